import { isRecord } from "../core/json.ts";
import { DELEGATION_TOOL, FILE_CHANGING_TOOLS, toolsNamed } from "../core/tool-names.ts";
import { type Draft, type Rule, say } from "./draft.ts";
import { allow, deny } from "./tools.ts";

/** opencode's words for tools: everything that changes files is one. */
export const OPENCODE_TOOLS = {
  edit: FILE_CHANGING_TOOLS,
  write: FILE_CHANGING_TOOLS,
  patch: FILE_CHANGING_TOOLS,
  multiedit: FILE_CHANGING_TOOLS,
  applypatch: FILE_CHANGING_TOOLS,
  codesearch: ["web_search"],
};

/** Rules about other things than tools. */
const NOT_TOOLS = new Set(["external_directory", "doom_loop", "lsp"]);

/**
 * `{ edit: deny, bash: { "git *": allow, "*": ask } }`: the last rule that fits counts. What would be asked cannot be
 * asked here, and what depends on the arguments cannot be checked, so both are left out; that is said.
 */
export const permission: Rule = (draft, value, key) => {
  if (typeof value === "string") return settle(draft, new Map([["*", value]]), key);
  if (Array.isArray(value)) return settle(draft, fromRules(value), key);
  if (!isRecord(value)) {
    allow(draft, [], key);
    return say(draft, "bad-value", `"${key}" cannot be read; the agent gets no tools.`, { field: key });
  }
  const { task, ...tools } = value;
  if (task !== undefined) spawnsBy(draft, task, key);
  settle(draft, new Map(Object.entries(tools)), key);
};

function settle(draft: Draft, rules: ReadonlyMap<string, unknown>, key: string): void {
  let open = true;
  const states = new Map<string, boolean>();
  for (const [name, rule] of rules) {
    if (NOT_TOOLS.has(name)) {
      draft.kept.push(`${key}.${name}`);
      continue;
    }
    const allowed = verdict(draft, name, rule, key);
    if (name === "*") {
      open = allowed;
      states.clear();
    } else {
      const found = toolsNamed(name, OPENCODE_TOOLS);
      for (const tool of found.length > 0 ? found : [name]) states.set(tool, allowed);
    }
  }
  const having = (wanted: boolean): string[] =>
    [...states].filter(([, allowed]) => allowed === wanted).map(([tool]) => tool);
  if (open) deny(draft, having(false), key);
  else allow(draft, having(true), key);
}

/** True when the tool may be used freely. */
function verdict(draft: Draft, name: string, rule: unknown, key: string): boolean {
  const answer = isRecord(rule) ? wholeAnswer(rule) : rule;
  if (answer === "allow" || answer === "deny") return answer === "allow";
  const why =
    answer === "ask"
      ? "is asked for, which nobody can answer here"
      : "depends on its arguments, which cannot be checked here";
  say(draft, "tool-rule", `"${name}" of "${key}" ${why}; it is left out.`, {
    field: key,
    hint: 'Say "allow" or "deny" for all of it.',
  });
  return false;
}

/** The answer of a map of patterns, when it is the same for everything. */
function wholeAnswer(rule: Readonly<Record<string, unknown>>): unknown {
  const answers = new Set(Object.values(rule));
  return answers.size === 1 && ("*" in rule || answers.has("ask")) ? rule[Object.keys(rule)[0]!] : undefined;
}

/** Which agents it may start: a yes, a no, or a rule for each name. */
function spawnsBy(draft: Draft, rule: unknown, key: string): void {
  const allowed = isRecord(rule)
    ? Object.entries(rule)
        .filter(([, answer]) => answer === "allow")
        .map(([name]) => name)
    : rule === "allow"
      ? ["*"]
      : [];
  const denied = isRecord(rule) && Object.values(rule).includes("deny");
  // "all but some" cannot be said here, so it is none
  draft.agent.spawns = allowed.includes("*") ? (denied ? [] : "*") : allowed;
  draft.from["spawns"] = key;
  if (allowed.length === 0) deny(draft, [DELEGATION_TOOL], key);
}

/** The newer form: a list of `{ permission, pattern, action }`. */
function fromRules(rules: readonly unknown[]): Map<string, unknown> {
  const map = new Map<string, unknown>();
  for (const rule of rules) {
    if (!isRecord(rule) || typeof rule["permission"] !== "string") continue;
    const { permission: name, pattern, action } = rule;
    map.delete(name); // the last counts, also in order
    map.set(name, pattern === undefined || pattern === "*" ? action : { limited: action, "*": "ask" });
  }
  return map;
}
