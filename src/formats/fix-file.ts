import type { Agent } from "../core/agent/agent.ts";
import type { Dialect, FilePlace } from "../core/agent/dialect.ts";
import type { Problem } from "../core/vocabulary/file-problem.ts";
import { foldName } from "../core/vocabulary/tool-names.ts";
import { readFrontmatter, split } from "./yaml/frontmatter.ts";
import { indentedFlows } from "./yaml/indented-flows.ts";
import { repaired } from "./yaml/repair.ts";

/**
 * The text of an agent file with its mistakes corrected: values that YAML cannot represent are quoted, lists are
 * indented, and keys are renamed to the known keys that they stand for or resemble. Comments and the prompt are
 * unchanged. `undefined`: nothing can be corrected without guessing.
 */
export function fixedText(source: string, dialect: Dialect, place: FilePlace): string | undefined {
  const { yaml } = split(source);
  if (yaml === undefined) return undefined;
  const { recovered } = readFrontmatter(source);
  if (recovered === "lossy") return undefined; // the intended meaning of the file is unknown
  const indented = indentedFlows(yaml.replace(/^[ \t]+|(?<=:)[ \t]+/gm, (blanks) => blanks.replaceAll("\t", "  ")));
  const quoted = recovered === "repaired" ? `${repaired(indented).yaml}\n` : indented;
  const { problems, agents } = dialect.read(source, place);
  const fixed = renamed(quoted, problems);
  const plain = source.replaceAll("\r\n", "\n");
  const at = plain.indexOf(yaml);
  if (fixed === yaml || at === -1) return undefined;
  const text = plain.slice(0, at) + fixed + plain.slice(at + yaml.length);
  const again = dialect.read(text, place);
  if (again.agents.length < agents.length) return undefined;
  if (again.agents.some(({ agent }, at) => losesRestrictions(agents[at]?.agent, agent))) return undefined;
  return source.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}

/** True if the corrected file denies less than the broken file, in which doubtful lines restrict the agent. */
function losesRestrictions(before: Agent | undefined, after: Agent): boolean {
  const isDenied = (name: string): boolean => after.disallowedTools?.includes(name) === true;
  return (
    before?.disallowedTools?.every(isDenied) === false || (before?.permission === "plan" && after.permission !== "plan")
  );
}

/** Renames the keys for which a problem gives a better name, unless that name is already in use. */
function renamed(yaml: string, problems: readonly Problem[]): string {
  return problems.reduce((text, { code, field, hint, message }) => {
    const better = /^Did you mean "([\w-]+)"\?$/.exec(hint ?? "")?.[1] ?? /; use "([\w-]+)"\.$/.exec(message)?.[1];
    if (field === undefined || better === undefined || (code !== "unknown-field" && code !== "deprecated")) return text;
    if (field === "infer") return text; // the key that replaces `infer` has the opposite meaning, so it is not renamed
    const taken = new RegExp(`^${better}\\s*:`, "m").test(text) && foldName(field) !== foldName(better);
    return taken ? text : text.replace(new RegExp(`^${escaped(field)}(?=\\s*:)`, "m"), better);
  }, yaml);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
