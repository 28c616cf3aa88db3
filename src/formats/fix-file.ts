import type { Dialect, FilePlace } from "../core/agent/dialect.ts";
import type { Problem } from "../core/vocabulary/file-problem.ts";
import { foldName } from "../core/vocabulary/tool-names.ts";
import { readFrontmatter, split } from "./yaml/frontmatter.ts";
import { indentedFlows } from "./yaml/indented-flows.ts";
import { repaired } from "./yaml/repair.ts";

/**
 * The text of an agent file with its mistakes corrected: values quoted that YAML cannot hold, lists indented, keys renamed
 * to those they were read as or resemble. Comments and the prompt stay as they are. `undefined`: there is nothing that can
 * be corrected without guessing.
 */
export function fixedText(source: string, dialect: Dialect, place: FilePlace): string | undefined {
  const { yaml } = split(source);
  if (yaml === undefined) return undefined;
  const { recovered } = readFrontmatter(source);
  if (recovered === "lossy") return undefined; // what was meant cannot be known
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
  return source.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}

/** Renames the keys that a problem has a better name for, unless that name is taken. */
function renamed(yaml: string, problems: readonly Problem[]): string {
  return problems.reduce((text, { code, field, hint, message }) => {
    const better = /^Did you mean "([\w-]+)"\?$/.exec(hint ?? "")?.[1] ?? /; use "([\w-]+)"\.$/.exec(message)?.[1];
    if (field === undefined || better === undefined || (code !== "unknown-field" && code !== "deprecated")) return text;
    if (field === "infer") return text; // its successor means the opposite
    const taken = new RegExp(`^${better}\\s*:`, "m").test(text) && foldName(field) !== foldName(better);
    return taken ? text : text.replace(new RegExp(`^${escaped(field)}(?=\\s*:)`, "m"), better);
  }, yaml);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
