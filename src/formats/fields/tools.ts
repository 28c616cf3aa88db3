import { isRecord } from "../../core/text/json.ts";
import { facadeOf } from "../../core/vocabulary/delegation-names.ts";
import { ALL_TOOLS, DELEGATION_TOOL, type ToolGroups, toolsNamed } from "../../core/vocabulary/tool-names.ts";
import {
  allow,
  deniedBy,
  denyEntries,
  disallowedTools,
  MAX_TOOLS,
  sizeOf,
  tooMany,
  type Written,
} from "./denied-tools.ts";
import { addProblem, type Draft, emptyDraft, type KeyReader } from "./draft.ts";
import { listOf } from "./lists.ts";
import { lookOnly } from "./look-only.ts";
import { flagOf } from "./rules.ts";
import { allowSpawns } from "./spawns.ts";
import { isNone, patternsIn, ruleOf, type ToolEntries, toolEntries, withoutRule } from "./tool-entries.ts";
import { unknownTools } from "./unknown-tool.ts";

/**
 * Reads the allow-list. Absent means every tool; `*` means every tool explicitly; empty, null and unreadable values
 * mean only the finish tool.
 *
 * Accepted are lists (also nested), separated words, a record of booleans and gen-code's `{ mode: allowlist, allow:
 * [...] }`. A record allows its entries that are true; with `switches`, as in opencode, a record turns single tools on
 * and off and leaves the other tools unchanged. An entry with `!` removes a tool.
 */
export const tools = (groups?: ToolGroups, { switches = false }: { readonly switches?: boolean } = {}): KeyReader =>
  remembered((draft, value, key) => {
    if (isRecord(value)) {
      const lists = listsIn(value);
      return lists === undefined
        ? byRecord(draft, value, { key, groups, isClosed: !switches })
        : byLists(draft, lists, { key, groups });
    }
    const entries = toolEntries(value);
    if (entries === undefined && value !== null && value !== false) {
      addProblem(draft, "bad-value", `"${key}" cannot be read as a list of tools; the agent gets no tools.`, {
        field: key,
      });
    }
    allowEntries(draft, entries ?? NOTHING, { key, groups });
  });

const NOTHING: ToolEntries = { named: [], excluded: [], unread: [] };

/**
 * Adds a cache to a reader of tool lists, because the same few lists occur in thousands of files. Only results of lists
 * that just allow tools are cached; a list with any other effect, such as a problem, is read again each time.
 */
export function remembered(read: KeyReader): KeyReader {
  const known = new Map<string, readonly string[] | undefined>();
  return (draft, value, key) => {
    const written = textOf(value);
    if (written === undefined) return read(draft, value, key);
    if (!known.has(written)) {
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(written, toolsOf(read, value, key));
    }
    const names = known.get(written);
    if (names === undefined) read(draft, value, key);
    else allow(draft, names, key);
  };
}

const MOST_KNOWN = 500;
const LONGEST_KNOWN = 500;

/** The cache key of a word or of a short list of words. A list and a text never have the same key. */
function textOf(value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
  const text = isList ? `\0${value.join("\0")}` : value;
  return typeof text === "string" && text.length <= LONGEST_KNOWN ? text : undefined;
}

/** The tools that a reader allows for a value; `undefined` if the value has another effect. */
function toolsOf(read: KeyReader, value: unknown, key: string): readonly string[] | undefined {
  const { agent, problems } = readAlone(read, value, key);
  const { tools: names, ...others } = agent;
  return problems.length > 0 || Object.keys(others).length > 0 ? undefined : names && Object.freeze([...names]);
}

function readAlone(read: KeyReader, value: unknown, key: string): Draft {
  const draft = emptyDraft();
  read(draft, value, key);
  return draft;
}

/** Allows the tools that a list names, and denies the tools that it removes. */
export function allowEntries(draft: Draft, entries: ToolEntries, { key, groups }: Written): void {
  if (sizeOf(entries) > MAX_TOOLS) return tooMany(draft, key);
  for (const item of entries.unread) unreadable(draft, JSON.stringify(item), key);
  const named = entries.named.length === 1 && isNone(entries.named[0]!) ? [] : entries.named;
  const isOpen =
    named.length === 0 &&
    entries.unread.length === 0 &&
    entries.excluded.length > 0 &&
    entries.excluded.every((entry) => deniedBy(entry, groups).length > 0);
  allow(draft, isOpen ? [ALL_TOOLS] : canonical(draft, named, { key, groups }), key);
  if (named.length === 0 && !isOpen) noTools(draft, key);
  denyEntries(draft, entries.excluded, { key, groups });
}

/** Reads `readonly`, which keeps only read-only tools; an unreadable value counts as true. */
export const readonlyFlag: KeyReader = (draft, value, key) => {
  const read = flagOf(value);
  if (read === undefined)
    addProblem(draft, "bad-value", `"${key}" has to be true or false; true is assumed.`, { field: key });
  if (read !== false) lookOnly(draft, key);
};

/**
 * The canonical names of the tools in a list. `Agent(a, b)` also names the agents that may be started; with other
 * tools, a rule in parentheses is not valid.
 */
export function canonical(draft: Draft, written: readonly string[], { key, groups }: Written): string[] {
  const names: string[] = [];
  const add = (name: string): void => {
    if (!names.includes(name)) names.push(name);
  };
  const unknown: string[] = [];
  const helpers = written.map(helpersIn).filter((list) => list !== undefined);
  if (helpers.length > 0) allowSpawns(draft, helpers.flat(), key);
  written.forEach((one) => {
    if (!/[A-Za-z\d*]/.test(one) && !/[\p{L}\p{N}]/u.test(one)) return unreadable(draft, one, key);
    spellDelegation(draft, withoutRule(one));
    const known = toolsNamed(one, groups);
    if (known.length > 0) return known.forEach(add);
    for (const entry of spaced(draft, one, { key, groups })) {
      const limited = limitedTool(entry, groups);
      if (limited?.length === 0) unreadable(draft, entry, key);
      if (limited !== undefined) limited.forEach(add);
      else if (!names.includes(entry)) {
        names.push(entry); // the name may be a tool of the library user; an agent of which no tool exists is refused at its start
        unknown.push(entry);
      }
    }
  });
  unknownTools(draft, unknown, key);
  return names;
}

function unreadable(draft: Draft, entry: string, key: string): void {
  addProblem(draft, "bad-value", `"${entry}" of "${key}" is not the name of a tool.`, { field: key });
}

/** Records under which name a delegation tool was listed, since each name is a different tool. */
function spellDelegation({ agent }: Draft, name: string): void {
  if (facadeOf(name) === undefined) return;
  agent.delegation = [...new Set([...(agent.delegation ?? []), name])];
}

/** Parses `Tool` and `Tool(rule)`; `undefined` when there is no such tool. */
function limitedTool(entry: string, groups: ToolGroups | undefined): readonly string[] | undefined {
  const bare = withoutRule(entry);
  const found = toolsNamed(bare, groups);
  if (found.length === 0) return undefined;
  if (bare === entry) return found;
  if (found.includes(DELEGATION_TOOL)) return [DELEGATION_TOOL];
  const patterns = patternsIn(ruleOf(entry));
  return patterns.includes("*") ? found : found.flatMap((name) => patterns.map((each) => `${name}(${each})`));
}

/** The agents in `Agent(a, b)`; `undefined` for another entry. */
function helpersIn(entry: string): readonly string[] | undefined {
  const bare = withoutRule(entry);
  return bare !== entry && toolsNamed(bare).includes(DELEGATION_TOOL) ? (listOf(ruleOf(entry)) ?? []) : undefined;
}

type Lists = Readonly<{ allowed: unknown; denied: readonly unknown[] }>;

const ALLOWED = /^(?:allow(?:ed|list)?|includ(?:e|ed)|only|enabled|permit(?:ted)?|whitelist)$/i;
const DENIED = /^(?:den(?:y|ied)|denylist|exclud(?:e|ed)|disallow(?:ed)?|block(?:ed)?|disabled|forbidden|blacklist)$/i;

/** The lists in `{ allow: [...], deny: [...] }`; `undefined` for a record of single tools. */
function listsIn(value: Readonly<Record<string, unknown>>): Lists | undefined {
  const isList = (each: unknown): boolean => Array.isArray(each) || (typeof each === "string" && !isWord(each));
  const entries = Object.entries(value).filter(([, each]) => isList(each));
  const allowed = entries.filter(([key]) => ALLOWED.test(key));
  const denied = entries.filter(([key]) => DENIED.test(key));
  if (allowed.length + denied.length === 0) return undefined;
  return {
    allowed: allowed.length === 0 ? undefined : allowed.map(([, each]) => each),
    denied: denied.map(([, each]) => each),
  };
}

const isWord = (text: string): boolean =>
  /^(?:allow|ask|deny|allowed|denied|true|false|yes|no|on|off)?$/i.test(text.trim());

function byLists(draft: Draft, { allowed, denied }: Lists, { key, groups }: Written): void {
  if (allowed === undefined) draft.from["tools"] ??= key;
  else allowEntries(draft, toolEntries(allowed) ?? NOTHING, { key, groups });
  for (const list of denied) disallowedTools(groups)(draft, list, key);
}

function byRecord(
  draft: Draft,
  value: Readonly<Record<string, unknown>>,
  { key, groups, isClosed }: Written & { readonly isClosed: boolean },
): void {
  const on: string[] = [];
  const off: string[] = [];
  let closed = isClosed;
  const isSet = isClosed && Object.values(value).every((state) => state === null);
  for (const [name, state] of Object.entries(value)) {
    const wanted = isSet ? true : stateOf(state);
    if (name === "*" && wanted === false) closed = true;
    else if (wanted === true) on.push(name);
    else if (wanted === false) off.push(name);
    else
      addProblem(draft, "bad-value", `"${name}" of "${key}" has to be true or false; false is used.`, { field: key });
    if (wanted === undefined) off.push(name);
  }
  const named = canonical(draft, on, { key, groups });
  if (closed) allow(draft, named, key);
  else if (named.includes(DELEGATION_TOOL)) allow(draft, [ALL_TOOLS, DELEGATION_TOOL], key);
  else draft.from["tools"] ??= key;
  if (closed && named.length === 0) noTools(draft, key);
  denyEntries(draft, off, { key, groups });
}

/** Whether a value of a record switches its tool on: `true`, `allow` and `{ enabled: true }` mean the same thing. */
function stateOf(state: unknown): boolean | undefined {
  if (isRecord(state)) return flagOf(state["enabled"] ?? state["enable"] ?? state["allowed"]);
  const word = typeof state === "string" ? state.trim().toLowerCase() : "";
  return word.startsWith("allow") ? true : /^(?:den(?:y|ied)|never|disabled)$/.test(word) ? false : flagOf(state);
}

function noTools(draft: Draft, key: string): void {
  addProblem(draft, "no-tools", `"${key}" is empty, so the agent has no tools.`, {
    field: key,
    severity: "info",
    hint: `Leave "${key}" out to give the agent every tool.`,
  });
}

/**
 * Splits `Read Grep` without a comma into two entries, if each word is the name of a tool. A pattern among them is left
 * out: the `*` in `write_file *` may be a stray line below a list.
 */
function spaced(draft: Draft, entry: string, { key, groups }: Written): readonly string[] {
  if (!/\s/.test(entry) || entry.includes("(")) return [entry];
  const parts = entry.split(/\s+/).filter((part) => !/^(?:and|or|plus|[&+])$/i.test(part));
  if (!parts.every((part) => toolsNamed(part, groups).length > 0)) return [entry];
  const names = parts.filter((part) => !part.includes("*"));
  if (names.length === 0 || names.length === parts.length) return parts;
  const message = `"${entry}" of "${key}" contains names of tools and a pattern; only the names are used.`;
  addProblem(draft, "bad-value", message, { field: key, hint: "Separate a pattern from the names by a comma." });
  return names;
}
