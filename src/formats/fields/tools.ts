import { isRecord } from "../../core/text/json.ts";
import { nearest } from "../../core/text/nearest.ts";
import { facadeOf } from "../../core/vocabulary/delegation-names.ts";
import { isForeignTool } from "../../core/vocabulary/foreign-tools.ts";
import {
  ALL_TOOLS,
  DELEGATION_TOOL,
  foldName,
  type ToolGroups,
  toolNames,
  toolsNamed,
} from "../../core/vocabulary/tool-names.ts";
import { addProblem, type Draft, type KeyReader } from "./draft.ts";
import { listOf } from "./lists.ts";
import { lookOnly } from "./look-only.ts";
import { flagOf } from "./rules.ts";

/**
 * The allow-list. Absent means every tool; `*` means every tool explicitly; empty, null and unreadable values mean only
 * the finish tool. Lists (also nested), comma-separated words, a record of booleans and 002's
 * `{ mode: allowlist, allow: [...] }` are read. A record allows its entries that are true; where `switches`, as in
 * opencode, it turns single tools on and off and leaves the others as they are.
 */
export const tools =
  (groups?: ToolGroups, { switches = false }: { readonly switches?: boolean } = {}): KeyReader =>
  (draft, value, key) => {
    if (isRecord(value) && !Array.isArray(value["allow"]))
      return byRecord(draft, value, { key, groups, isClosed: !switches });
    const written = listOf(isRecord(value) ? value["allow"] : value);
    if (written !== undefined && written.length > MAX_TOOLS) return tooMany(draft, key);
    if (written === undefined && value !== null) {
      addProblem(draft, "bad-value", `"${key}" cannot be read as a list of tools; the agent gets none.`, {
        field: key,
      });
    }
    allow(draft, canonical(draft, written ?? [], { key, groups }), key);
    if (written === undefined || written.length === 0) noTools(draft, key);
  };

/** The deny-list: its tools are removed; an unknown name is kept, because it may belong to an MCP server. */
export const disallowedTools =
  (groups?: ToolGroups): KeyReader =>
  (draft, value, key) => {
    const written = listOf(value);
    if (written === undefined) {
      if (value !== null) addProblem(draft, "bad-value", `"${key}" cannot be read as a list of tools.`, { field: key });
      return;
    }
    if (written.length > MAX_TOOLS) return tooMany(draft, key);
    deny(
      draft,
      written.flatMap((entry) => withRule(orItself(toolsNamed(withoutRule(entry), groups), withoutRule(entry)), entry)),
      key,
    );
  };

/** Only some calls of a tool are taken away when its name has a pattern: `bash(rm *)`. */
function withRule(names: readonly string[], entry: string): readonly string[] {
  const pattern = ruleOf(entry);
  const all = pattern === "" || pattern === "*" || names.includes(DELEGATION_TOOL);
  return all ? names : names.map((name) => `${name}(${pattern})`);
}

/** `readonly` keeps only read-only tools; an unreadable value counts as true. */
export const readonlyFlag: KeyReader = (draft, value, key) => {
  const read = flagOf(value);
  if (read === undefined)
    addProblem(draft, "bad-value", `"${key}" has to be true or false; true is assumed.`, { field: key });
  if (read !== false) lookOnly(draft, key);
};

/** Which agents it may start. `["*"]` is the same as `*`. */
export const spawns: KeyReader = (draft, value, key) => {
  const names = value === null || value === false ? [] : value === true ? ["*"] : listOf(value);
  if (names === undefined)
    return addProblem(draft, "bad-value", `"${key}" has to be "*" or a list of agents.`, { field: key });
  draft.agent.spawns = names.includes("*") ? "*" : names;
  draft.from["spawns"] = key;
};

/** Adds to what is allowed, each name given once; a second allow-list can only narrow the first. */
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

type Written = { readonly key: string; readonly groups: ToolGroups | undefined };

/** The canonical names of a written list. `Agent(a, b)` also says which agents; other rules in parentheses fit no tool. */
export function canonical(draft: Draft, written: readonly string[], { key, groups }: Written): string[] {
  const names: string[] = [];
  const add = (name: string): void => {
    if (!names.includes(name)) names.push(name);
  };
  let unknown = 0;
  written.forEach((one) => {
    if (!/[\p{L}\p{N}*]/u.test(one)) return unreadable(draft, one, key);
    spellDelegation(draft, withoutRule(one));
    const known = toolsNamed(one, groups);
    if (known.length > 0) return known.forEach(add);
    for (const entry of spaced(one, groups)) {
      const limited = limitedTool(draft, entry, { key, groups });
      if (limited !== undefined) limited.forEach(add);
      else if (!names.includes(entry)) {
        names.push(entry); // it may be a tool of the caller; a list without any existing tool refuses to start
        if (++unknown <= MAX_TOLD) unknownTool(draft, entry, key);
      }
    }
  });
  if (unknown > MAX_TOLD) {
    const message = `${unknown - MAX_TOLD} more tools of "${key}" are unknown to this program.`;
    addProblem(draft, "unknown-tool", message, { field: key });
  }
  return names;
}

function unreadable(draft: Draft, entry: string, key: string): void {
  addProblem(draft, "bad-value", `"${entry}" of "${key}" is not the name of a tool.`, { field: key });
}

/** Remembers how the file spells a delegation tool, since each spelling is a tool of its own. */
function spellDelegation({ agent }: Draft, name: string): void {
  if (facadeOf(name) === undefined) return;
  agent.delegation = [...new Set([...(agent.delegation ?? []), name])];
}

/** Maximum number of unknown tools reported one by one. */
const MAX_TOLD = 20;
/** Maximum length of a tool list. */
const MAX_TOOLS = 1000;

/** Parses `Tool` and `Tool(rule)`; nothing when there is no such tool. */
function limitedTool(draft: Draft, entry: string, { key, groups }: Written): readonly string[] | undefined {
  const bare = withoutRule(entry);
  const found = toolsNamed(bare, groups);
  if (found.length === 0) return undefined;
  if (bare === entry) return found;
  if (found.includes(DELEGATION_TOOL)) {
    draft.agent.spawns ??= listOf(ruleOf(entry)) ?? [];
    draft.from["spawns"] ??= key;
    return [DELEGATION_TOOL];
  }
  return ruleOf(entry) === "*" ? found : found.map((name) => `${name}(${ruleOf(entry)})`);
}

function byRecord(
  draft: Draft,
  value: Readonly<Record<string, unknown>>,
  { key, groups, isClosed }: Written & { readonly isClosed: boolean },
): void {
  const on: string[] = [];
  const off: string[] = [];
  let closed = isClosed;
  for (const [name, state] of Object.entries(value)) {
    const wanted = flagOf(state);
    if (name === "*" && wanted === false) closed = true;
    else if (wanted === true) on.push(name);
    else if (wanted === false) off.push(name);
    else addProblem(draft, "bad-value", `"${name}" of "${key}" has to be true or false.`, { field: key });
    if (wanted === undefined) off.push(name);
  }
  const named = canonical(draft, on, { key, groups });
  if (closed) allow(draft, named, key);
  else if (named.includes(DELEGATION_TOOL)) allow(draft, [ALL_TOOLS, DELEGATION_TOOL], key);
  else draft.from["tools"] ??= key;
  if (closed && named.length === 0) noTools(draft, key);
  deny(
    draft,
    off.flatMap((name) => orItself(toolsNamed(name, groups), name)),
    key,
  );
}

/** A list that is not read, of either kind, leaves nothing. */
function tooMany(draft: Draft, key: string): void {
  addProblem(draft, "bad-value", `"${key}" names more than ${MAX_TOOLS} tools; the agent gets none.`, { field: key });
  allow(draft, [], key);
}

export function unknownTool(draft: Draft, name: string, key: string): void {
  if (isForeignTool(name)) {
    const known = `"${name}" is a tool of another program and has no equivalent here.`;
    return addProblem(draft, "unknown-tool", known, { field: key, severity: "info" });
  }
  const close = nearest(name, toolNames) ?? toolNames.find((known) => foldName(known).startsWith(foldName(name)));
  const message = `There is no tool "${name}"; it has an effect only if the caller provides it.`;
  const hint = close === undefined ? {} : { hint: `Did you mean "${close}"?` };
  addProblem(draft, "unknown-tool", message, { field: key, ...hint });
}

function noTools(draft: Draft, key: string): void {
  addProblem(draft, "no-tools", `"${key}" is empty, so the agent can only return its result.`, {
    field: key,
    severity: "info",
    hint: `Leave "${key}" out to give it every tool.`,
  });
}

/** `Read Grep` without a comma is two, when each of them is a tool. */
function spaced(entry: string, groups: ToolGroups | undefined): readonly string[] {
  if (!/\s/.test(entry) || entry.includes("(")) return [entry];
  const parts = entry.split(/\s+/);
  return parts.every((part) => toolsNamed(part, groups).length > 0) ? parts : [entry];
}

const withoutRule = (entry: string): string => /^([^()]+)\(.*\)$/s.exec(entry)?.[1]?.trim() ?? entry;
const ruleOf = (entry: string): string => /\((.*)\)$/s.exec(entry)?.[1]?.trim() ?? "";
const orItself = (names: readonly string[], written: string): readonly string[] =>
  names.length > 0 ? names : [written];
