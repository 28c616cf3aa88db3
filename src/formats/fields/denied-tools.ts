import { isRecord, scalarText } from "../../core/text/json.ts";
import { isOfServer } from "../../core/vocabulary/server-patterns.ts";
import {
  ALL_TOOLS,
  DELEGATION_TOOL,
  foldName,
  matchesDelegation,
  type ToolGroups,
  toolsNamed,
} from "../../core/vocabulary/tool-names.ts";
import { addProblem, type Draft, type KeyReader } from "./draft.ts";
import { flagOf } from "./rules.ts";
import { isNone, patternsIn, ruleOf, type ToolEntries, toolEntries, withoutRule } from "./tool-entries.ts";
import { unknownTool } from "./unknown-tool.ts";

/** The key that contains a list of tools, and the format's names for groups of tools. */
export type Written = { readonly key: string; readonly groups: ToolGroups | undefined };

/** Reads a list of denied tools. An unknown name is kept, because it may belong to an MCP server, and reported. */
export const disallowedTools =
  (groups?: ToolGroups): KeyReader =>
  (draft, value, key) => {
    if (value === null || value === false) return;
    const entries = isRecord(value) ? deniedIn(value) : toolEntries(value);
    if (entries !== undefined && sizeOf(entries) > MAX_TOOLS) return tooMany(draft, key);
    if (entries === undefined || entries.unread.length > 0) {
      addProblem(draft, "bad-value", `"${key}" cannot be read as a list of tools; the agent gets no tools.`, {
        field: key,
        hint: "Write the names of the tools, separated by commas.",
      });
      return allow(draft, [], key);
    }
    denyEntries(draft, [...entries.named, ...entries.excluded], { key, groups });
  };

/** Reads a deny-list that is a map: entries that are true or have no value are removed from the agent's tools. */
function deniedIn(value: Readonly<Record<string, unknown>>): ToolEntries {
  const kept = Object.entries(value).filter(
    ([, state]) => flagOf(state) !== false && !/^allow/i.test(scalarText(state)),
  );
  return {
    named: kept.flatMap(([name, state]) =>
      Array.isArray(state) && state.every((each) => typeof each === "string")
        ? state.map((each) => `${name}(${each})`)
        : [name],
    ),
    excluded: [],
    unread: [],
  };
}

/** Words that mean every tool, in a deny-list. */
const EVERYTHING: ReadonlySet<string> = new Set(["*", "all", "any", "every", "everything", "alltools", "true"]);

/** Denies tools. Every word that names a tool counts, because a restriction that is not understood must not be lost. */
export function denyEntries(draft: Draft, written: readonly string[], { key, groups }: Written): void {
  const gone = written.flatMap((entry) => {
    if (isNone(entry)) return [];
    const found = deniedBy(entry, groups);
    if (found.includes(DELEGATION_TOOL) && entry.includes("(")) {
      const message = `"${entry}" of "${key}" removes all delegation tools, because subcrew cannot exclude single agents.`;
      addProblem(draft, "tool-rule", message, { field: key, hint: "List the agents that this agent may start." });
    }
    if (found.length > 0) return found;
    unknownTool(draft, entry, key);
    return [entry];
  });
  deny(draft, gone, key);
}

/** The tools that an entry of a deny-list denies; empty if the entry does not name a tool. */
export function deniedBy(entry: string, groups: ToolGroups | undefined): readonly string[] {
  if (EVERYTHING.has(foldName(entry))) return [ALL_TOOLS, DELEGATION_TOOL];
  const bare = withoutRule(entry);
  const whole = [...toolsNamed(bare, groups), ...flatName(bare)];
  const named = entry.includes("(") && bare !== entry ? namedBefore(entry) : entry;
  const parts = named.split(/[^\w.*:@-]+/).filter((word) => word !== entry && !EVERYTHING.has(word));
  const words = parts.flatMap((word) => toolsNamed(word, groups).filter((name) => !isOfServer(name)));
  const helpers = bare.includes("*") && matchesDelegation(bare) ? [DELEGATION_TOOL] : [];
  return [...new Set([...whole.flatMap((name) => withRule([name], entry)), ...words, ...helpers])];
}

/**
 * The words of an entry with a pattern that are denied as a whole: the words before a blank, as in `bash x()`. Such an
 * entry may be two lines of a file that belong to different fields, so a pattern after a blank does not limit the ban.
 */
function namedBefore(entry: string): string {
  const head = entry.slice(0, entry.indexOf("(")).trimStart();
  return head.slice(0, Math.max(0, head.search(/\s\S*$/)));
}

/**
 * The MCP tool name as a single word: `mcp_my_server_run` does not show where the name of the server ends, so the tool
 * is denied under this form of its name, too.
 */
function flatName(written: string): readonly string[] {
  const flat = /^mcp_(?!_)(.+)$/.exec(written)?.[1];
  return flat === undefined || flat === "*" ? [] : [flat];
}

/** Keeps the pattern of an entry such as `bash(rm *)`, which denies only some calls of a tool. */
function withRule(names: readonly string[], entry: string): readonly string[] {
  const pattern = ruleOf(entry);
  const all = pattern === "" || pattern === "*" || names.includes(DELEGATION_TOOL);
  if (all) return names;
  const patterns = [...new Set([pattern, ...patternsIn(pattern)])];
  return names.flatMap((name) => patterns.map((each) => `${name}(${each})`));
}

/** Adds tools to the allow-list, without duplicates; a second allow-list in the same file can only narrow the first. */
export function allow(draft: Draft, names: readonly string[], key: string): void {
  const earlier = draft.agent.tools;
  const both =
    earlier === undefined || earlier.includes(ALL_TOOLS)
      ? names
      : names.includes(ALL_TOOLS)
        ? earlier
        : earlier.filter((name) => names.includes(name));
  draft.agent.tools = both;
  draft.from["tools"] ??= key;
}

export function deny(draft: Draft, names: readonly string[], key: string): void {
  if (names.length === 0) return;
  draft.agent.disallowedTools = [...new Set([...(draft.agent.disallowedTools ?? []), ...names])];
  draft.from["disallowedTools"] ??= key;
}

/** Reports a list that is too long to read; the agent gets no tools. */
export function tooMany(draft: Draft, key: string): void {
  addProblem(draft, "bad-value", `"${key}" names more than ${MAX_TOOLS} tools; the agent gets no tools.`, {
    field: key,
  });
  allow(draft, [], key);
}

/** Maximum length of a tool list. */
export const MAX_TOOLS = 1000;
export const sizeOf = ({ named, excluded }: ToolEntries): number => named.length + excluded.length;
