import type { Dialect, FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { isRecord } from "../../core/text/json.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { addProblem, type Draft, defineFields, type Fields, type KeyReader } from "../fields/draft.ts";
import { promptOrFile } from "../fields/include.ts";
import { markdown } from "../fields/markdown.ts";
import { failedReading, joinReadings, readRecord } from "../fields/records.ts";
import { bad, flag, kept, limit, model, number, readThinking, switchedOff, text } from "../fields/rules.ts";
import { tools } from "../fields/tools.ts";
import { ifReadOnly, narrowing } from "../fields/narrowing.ts";
import { asData, jsonLineOf, readJson } from "../yaml/json.ts";
import { OPENCODE_TOOLS, opencodePermission } from "../fields/permission-map.ts";

/** Reads `mode`. A primary agent is made for conversations with people and is not offered to models. */
const mode: KeyReader = (draft, value, key) => {
  if (value === "primary") flag("hidden")(draft, true, key);
  else if (value !== "subagent" && value !== "all") {
    bad(draft, key, "subagent, primary or all");
    ifReadOnly(draft, value, key);
  }
};

const maxSteps: KeyReader = (draft, value, key) => {
  addProblem(draft, "deprecated", `"${key}" is deprecated; use "steps".`, { field: key });
  limit("maxTurns")(draft, value, key);
};

const fieldsFor = (prompt: KeyReader): Fields =>
  defineFields({
    ...narrowing(OPENCODE_TOOLS),
    name: text("name"),
    description: text("description"),
    mode,
    model,
    variant: kept(),
    temperature: number("temperature"),
    topP: number("topP"),
    prompt,
    system: prompt,
    tools: tools(OPENCODE_TOOLS, { switches: true }),
    permission: opencodePermission,
    permissions: opencodePermission,
    steps: limit("maxTurns"),
    maxSteps,
    reasoningEffort: readThinking,
    hidden: flag("hidden"),
    disable: switchedOff(true),
    disabled: switchedOff(true),
    color: kept(),
    options: kept("is not sent to the provider"),
    request: kept("is not sent to the provider"),
  });

const inMarkdown = fieldsFor(text("instructions"));

/** The name of an agent from its path: `backend/sql.md` is `backend:sql`; the agent is also found as `backend/sql`. */
const nameOf = ({ relative }: FilePlace): string => relative.replace(/\.md$/, "").replaceAll("/", ":");

const asMarkdown = markdown({
  id: "opencode",
  fields: inMarkdown,
  nameFromFile: nameOf,
  freeName: true,
  description: "optional",
  settle: (draft, _data, place) => {
    if (place.relative.includes("/")) draft.aliases = [place.relative.replace(/\.md$/, "")];
  },
});

/** The agent files of opencode and Kilo: Markdown, or the `agent` key of their JSON settings. */
export const opencodeDialect: Dialect = {
  id: "opencode",
  accepts: (name) => name.endsWith(".md"),
  read: (source, place) =>
    /\.jsonc?$/.test(place.relative) ? readSettings(source, place) : asMarkdown.read(source, place),
  lineOf: (source, field) => asMarkdown.lineOf?.(source, field) ?? jsonLineOf(source, field),
};

/** Reads the agents in opencode's settings file; its other settings are ignored. */
function readSettings(source: string, place: FilePlace): ParsedFile {
  const read = readJson(source);
  if (!read.ok)
    return failedReading(
      problem("bad-json", `The opencode file is not valid JSON: ${read.reason}.`, { line: read.line }),
    );
  const settings = asData(read.value) ?? {};
  const entries = [settings["agent"], settings["mode"]].filter(isRecord).flatMap((agents) => Object.entries(agents));
  const fields = fieldsFor(promptOrFile(place));
  return joinReadings(entries.map(([name, entry]) => readEntry(name, entry, { fields, place })));
}

function readEntry(name: string, entry: unknown, { fields, place }: { fields: Fields; place: FilePlace }): ParsedFile {
  const data = asData(entry);
  if (data === undefined)
    return failedReading(problem("bad-definition", `The agent "${name}" is not an object.`, { field: name }));
  if (data["prompt"] === undefined && data["system"] === undefined && data["description"] === undefined) {
    return failedReading(
      problem("no-effect", `"${name}" only changes an agent that is built into opencode.`, { field: name }),
    );
  }
  const settle = (draft: Draft): void => {
    draft.agent.name ??= name;
    draft.from["name"] ??= "agent";
  };
  return readRecord(fields, data, { place, freeName: true, description: "optional", settle });
}
