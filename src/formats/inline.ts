import type { ParsedFile } from "../core/agent/dialect.ts";
import { isRecord } from "../core/text/json.ts";
import { problem } from "../core/vocabulary/file-problem.ts";
import { claudeFields } from "./dialects/claude.ts";
import { ownFields } from "./dialects/own.ts";
import { failedReading, joinReadings, readRecord } from "./fields/records.ts";
import { asData, readJson } from "./yaml/json.ts";

const PLACE = { file: "(given)", relative: "(given)" };

/**
 * Agents given as JSON: `{ "name": { description, prompt, tools, ... } }` as for Claude Code's `--agents`, or a list of
 * objects with subcrew's own keys.
 */
export function readInlineAgents(given: unknown): ParsedFile {
  const read = typeof given === "string" ? readJson(given) : ({ ok: true, value: given } as const);
  if (!read.ok)
    return failedReading(
      problem("bad-json", `The agents given as JSON cannot be parsed: ${read.reason}.`, { line: read.line }),
    );
  if (Array.isArray(read.value)) return joinReadings(read.value.map(readOwn));
  const agents = asData(read.value);
  if (agents === undefined) return failedReading(problem("bad-json", "The agents have to be an object or a list."));
  return joinReadings(Object.entries(agents).map(([name, data]) => readNamed(name, data)));
}

function readNamed(name: string, data: unknown): ParsedFile {
  if (!isRecord(data))
    return failedReading(problem("bad-definition", `The agent "${name}" is not an object.`, { field: name }));
  return readRecord(claudeFields, data, {
    place: PLACE,
    freeName: true,
    settle: ({ agent, from }) => {
      agent.name ??= name;
      from["name"] ??= name;
    },
  });
}

const readOwn = (data: unknown): ParsedFile =>
  isRecord(data)
    ? readRecord(ownFields, data, { place: PLACE, freeName: true })
    : failedReading(problem("bad-definition", "An agent is not an object."));
