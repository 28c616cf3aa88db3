import { globsMeet } from "../rules/globs-overlap.ts";
import { placed } from "../rules/call-subject.ts";
import { ruleFits } from "../rules/rule.ts";
import { type AgentBound, type Policy, rulesFor } from "./policy.ts";

/** Whether a tool may not see a path. `isFolder` is only called if the answer depends on it. */
type ReadLimit = (place: string, isFolder: () => boolean) => boolean;

/**
 * Returns a test for paths outside of the files that an agent's file lets it read, for a tool that finds, lists or
 * moves files: an agent with `tools: Read(src/**), Grep` searches only `src`. A list of paths for the tool itself, as
 * in `Grep(docs/**)`, counts instead. Folders on the way to these files are open. `undefined`: there is no such limit.
 */
export function readLimits({ bounds }: Policy, tool: string): ReadLimit | undefined {
  if (!LIMITED.has(tool)) return undefined;
  const limits = bounds.flatMap((bound) => limitOf(bound, tool) ?? []);
  return limits.length === 0 ? undefined : (place, isFolder) => limits.some((limit) => limit(place, isFolder));
}

/** Tools that show content or names of files, or that move a file to a place where it may be read. */
const LIMITED: ReadonlySet<string> = new Set(["grep_files", "glob", "list_files", "get_file_info", "move_file"]);

function limitOf({ rules }: AgentBound, tool: string): ReadLimit | undefined {
  if (rulesFor(rules, tool).some(({ says, pattern }) => says === "allow" && pattern !== undefined)) return undefined;
  const about = rulesFor(rules, "read_file");
  const own = about.slice(about.findLastIndex(({ pattern }) => pattern === undefined));
  const patterns = own.flatMap(({ says, pattern }) => (says === "allow" && pattern !== undefined ? [pattern] : []));
  if (own[0]?.pattern !== undefined || own[0]?.says !== "deny" || patterns.length === 0) return undefined;
  return (place, isFolder) => {
    if (place === "") return false;
    const fitting = own.findLast((rule) =>
      ruleFits(rule, "read_file", placed(place, false), rule.says === "allow" ? "permission" : "ban"),
    );
    if (fitting?.says !== "deny") return false;
    return !patterns.some((pattern) => mayLieBelow(place, pattern)) || !isFolder();
  };
}

/** Whether a file that the pattern matches may lie below this path. A pattern without a slash matches at any depth. */
const mayLieBelow = (place: string, pattern: string): boolean =>
  !pattern.includes("/") || globsMeet(`${escaped(place)}/**`, pattern.replace(/^\.\//, ""));

const escaped = (place: string): string => place.replace(/[*?[\]{}\\!]/g, "?");
