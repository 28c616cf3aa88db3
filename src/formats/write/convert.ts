import type { ReadAgent } from "../../core/agent/dialect.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type Problem, problem } from "../../core/vocabulary/file-problem.ts";
import { delegationToolsOf } from "../../core/delegation/spawn.ts";
import { permit } from "../../core/policy/permit.ts";
import { DELEGATION_TOOL, foldName, toolNames } from "../../core/vocabulary/tool-names.ts";
import { dialects } from "../table.ts";
import { type Loss, lossesBetween } from "./losses.ts";
import { writers } from "./table.ts";
import type { Writer } from "./writer.ts";

/**
 * An agent converted to another file format, the path of its file, the fields that were lost, and the tools that it can
 * use only in the target program.
 */
export type ConvertedAgent = Readonly<{
  text: string;
  path: string;
  losses: readonly Loss[];
  gained: readonly string[];
}>;

/**
 * Writes an agent in another file format. The result is read back at once: every difference is reported, so that
 * nothing is lost silently.
 */
export function convert(read: ReadAgent, to: string): ConvertedAgent {
  const [writer, dialect] = [writers[to], dialects[to]];
  if (writer === undefined || dialect === undefined) throw unknownDialect(to);
  if (read.agent.remote !== undefined && !REMOTE.has(to)) throw runsElsewhere(read, to);
  const relative = writer.file(read.agent.name);
  const path = writer.folder === "" ? relative : `${writer.folder}/${relative}`;
  const attempt = ({ extra, lost }: Along): ConvertedAgent | Problem => {
    const text = writer.write(read, extra);
    const { agents, problems } = dialect.read(text, { file: path, relative });
    const [back] = agents;
    if (back === undefined) return problems.find(({ severity }) => severity === "error") ?? NO_AGENT;
    const losses = [...lossesBetween(read, back, writer.notes), ...lost];
    return { text, path, losses, gained: toolNames.filter((tool) => mayUse(back, tool) && !mayUse(read, tool)) };
  };
  const along = comingAlong(read, writer, to === OWN);
  const first = attempt(along);
  const made = "text" in first ? first : attempt(leftBehind(read, along));
  if ("text" in made) return made;
  throw new CrewError(
    "BAD_AGENT",
    `"${read.agent.name}" cannot be written as ${to}: ${made.message}`,
    "Change this in the agent file, then convert it again.",
  );
}

/** True if the agent may use a tool. The delegation tool is also usable for every agent that may start other agents. */
const mayUse = ({ agent }: ReadAgent, tool: string): boolean =>
  permit(agent, tool).allowed || (tool === DELEGATION_TOOL && delegationToolsOf(agent).length > 0);

const NO_AGENT: Problem = problem("bad-definition", "the file contains no agent");

const OWN = "own";
/** File formats that support remote agents. */
const REMOTE: ReadonlySet<string> = new Set([OWN, "gemini"]);

const runsElsewhere = ({ agent }: ReadAgent, to: string): CrewError =>
  new CrewError(
    "BAD_AGENT",
    `"${agent.name}" is a remote agent, which the format ${to} does not support.`,
    'Convert the agent to the format "gemini" or "own" (the format of subcrew).',
  );

const unknownDialect = (to: string): CrewError =>
  new CrewError("BAD_INPUT", `Unknown dialect "${to}".`, `Use one of: ${Object.keys(writers).join(", ")}.`);

/** Keys that have the same name in several programs but different contents. */
const FOREIGN: ReadonlySet<string> = new Set(["mcpservers", "hooks"]);

/** Keys that are copied to the converted file, and the report about keys that are lost or changed. */
type Along = Readonly<{ extra: Readonly<Record<string, unknown>>; lost: readonly Loss[] }>;

/** Drops the copied keys, for a target program that would reject their values. */
function leftBehind({ raw }: ReadAgent, { extra, lost }: Along): Along {
  const keys = Object.keys(raw).filter((key) => Object.keys(extra).some((name) => foldName(name) === foldName(key)));
  const dropped = keys.map(
    (field): Loss => ({
      field,
      kind: "dropped",
      was: raw[field],
      note: "the target format does not accept the value of this field",
    }),
  );
  return { extra: {}, lost: [...lost.filter(({ field }) => !keys.includes(field)), ...dropped] };
}

/** The keys without effect in subcrew: copied if the target file format has them, too, otherwise lost. */
function comingAlong({ kept, raw }: ReadAgent, { carries }: Writer, isOwn: boolean): Along {
  const extra: Record<string, unknown> = {};
  const lost: Loss[] = [];
  for (const key of new Set(kept)) {
    if (!Object.hasOwn(raw, key) || key === "kind") continue; // this key is not copied, because the kind follows from the agent itself
    const name = carries.find((one) => foldName(one) === foldName(key));
    if (name === undefined)
      lost.push({
        field: key,
        kind: "dropped",
        was: raw[key],
        note: "this field has no effect in subcrew and no equivalent in the target format",
      });
    else extra[name] = raw[key];
    if (name !== undefined && !isOwn && FOREIGN.has(foldName(name)))
      lost.push({
        field: key,
        kind: "approximated",
        was: raw[key],
        now: raw[key],
        note: "copied unchanged; the target program may expect another form",
      });
  }
  return { extra, lost };
}
