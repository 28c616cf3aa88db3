import { isShut } from "../../core/policy/judge-call.ts";
import { rulesFor } from "../../core/policy/policy.ts";
import { type AgentRule, type AgentRules, parseAgentRule } from "../../core/rules/agent-rule.ts";
import { isRecord } from "../../core/text/json.ts";
import {
  ALL_TOOLS,
  DELEGATION_TOOL,
  FILE_CHANGING_TOOLS,
  toolMatches,
  toolsNamed,
} from "../../core/vocabulary/tool-names.ts";
import { simplerSpawns } from "../../core/vocabulary/spawn-list.ts";
import { ASK_ALL, narrowBy, rules } from "./agent-rules.ts";
import { addProblem, type Draft, type KeyReader } from "./draft.ts";
import { readPermission } from "./rules.ts";
import { toolEntries } from "./tool-entries.ts";
import { allow, deny, disallowedTools } from "./denied-tools.ts";
import { allowSpawns } from "./spawns.ts";
import { tools } from "./tools.ts";

/** opencode's names for tools; everything that changes files is one tool. */
export const OPENCODE_TOOLS = {
  edit: FILE_CHANGING_TOOLS,
  write: FILE_CHANGING_TOOLS,
  patch: FILE_CHANGING_TOOLS,
  multiedit: FILE_CHANGING_TOOLS,
  applypatch: FILE_CHANGING_TOOLS,
  codesearch: ["web_search"],
};

/** Keys of opencode's permissions that are not about tools. */
const NOT_TOOLS = new Set(["external_directory", "doom_loop", "lsp"]);

/**
 * Reads `{ edit: deny, bash: { "*": ask, "git *": allow } }`: the last matching rule wins. Tools that are denied
 * completely are removed; the rest become rules about calls, which never widen the user's permissions.
 */
export const opencodePermission: KeyReader = (draft, value, key) => {
  if (typeof value === "string")
    return answerOf(value) === undefined
      ? readPermission(draft, value, key)
      : settle(draft, rulesOf(draft, "*", value, key), key);
  if (Array.isArray(value))
    return value.length > 0 && value.every((each) => typeof each === "string")
      ? fromTexts(draft, value, key)
      : settle(draft, fromRules(draft, value, key), key);
  if (!isRecord(value)) {
    allow(draft, [], key);
    return addProblem(draft, "bad-value", `"${key}" cannot be read; the agent gets no tools.`, { field: key });
  }
  const { task, ...tools } = withoutLists(draft, value, key);
  if (task !== undefined) spawnsBy(draft, task, key);
  settle(
    draft,
    Object.entries(tools).flatMap(([name, rule]) => rulesOf(draft, name, rule, key)),
    key,
    task !== undefined && draft.agent.spawns?.length ? [DELEGATION_TOOL] : [],
  );
};

/**
 * Handles `{ allow: [...], ask: [...], deny: [...] }`, the lists of rules in the settings of Claude Code. `allow`
 * grants nothing in subcrew.
 */
function withoutLists(draft: Draft, value: Readonly<Record<string, unknown>>, key: string): Record<string, unknown> {
  const { allow: granted, ask, deny: denied, ...rest } = value;
  if (denied !== undefined) disallowedTools(OPENCODE_TOOLS)(draft, denied, key);
  const asked = toolEntries(ask)?.named ?? [];
  const rules = asked.flatMap((text) => parseAgentRule(`ask ${text}`) ?? ASK_ALL);
  if (ask !== undefined) narrowBy(draft, rules.length > 0 ? rules : ASK_ALL, key);
  if (granted !== undefined) {
    const message = `"allow" of "${key}" grants no permissions in subcrew; only the user's settings do.`;
    addProblem(draft, "no-effect", message, { field: key });
  }
  return rest;
}

/** Reads a list of texts: rules such as `deny bash(rm *)`, or names of allowed tools. */
function fromTexts(draft: Draft, texts: readonly string[], key: string): void {
  const isRule = (text: string): boolean => /^\s*(?:allow|ask|deny)\s/.test(text);
  const named = texts.filter((text) => !isRule(text));
  if (named.length > 0) tools(OPENCODE_TOOLS)(draft, named, key);
  const written = texts.filter(isRule);
  if (written.length > 0) rules(draft, written, key);
}

/** The rules for one tool name of opencode: a single decision for every call, or a decision for each pattern. */
function rulesOf(draft: Draft, name: string, answer: unknown, key: string): AgentRules {
  if (NOT_TOOLS.has(name)) {
    draft.kept.push(`${key}.${name}`);
    return [];
  }
  if (!isRecord(answer)) return each(name, undefined, saysOf(draft, answer, { name, key }));
  if (Object.values(answer).some(isRecord)) return each(name, undefined, saysOf(draft, answer, { name, key }));
  return Object.entries(answer).flatMap(([pattern, says]) => each(name, pattern, saysOf(draft, says, { name, key })));
}

/** The decision (allow, ask or deny) that a value means; an unreadable value means deny. */
function saysOf(draft: Draft, answer: unknown, { name, key }: { name: string; key: string }): AgentRule["says"] {
  const says = answerOf(answer);
  if (says !== undefined) return says;
  addProblem(draft, "bad-value", `"${name}" of "${key}" has to be allow, ask or deny; deny is used.`, { field: key });
  return "deny";
}

const ANSWERS: Readonly<Record<string, AgentRule["says"]>> = {
  allow: "allow",
  allowed: "allow",
  true: "allow",
  ask: "ask",
  prompt: "ask",
  confirm: "ask",
  deny: "deny",
  denied: "deny",
  never: "deny",
  block: "deny",
  false: "deny",
};

/** Reads a decision in any letter case, or as true or false. */
function answerOf(answer: unknown): AgentRule["says"] | undefined {
  const word = typeof answer === "string" || typeof answer === "boolean" ? String(answer).trim().toLowerCase() : "";
  return Object.hasOwn(ANSWERS, word) ? ANSWERS[word] : undefined;
}

function each(name: string, pattern: string | undefined, says: AgentRule["says"]): AgentRules {
  const found = toolsNamed(name, OPENCODE_TOOLS);
  return (found.length > 0 ? found : [name]).map((tool) => ({
    tool,
    ...(pattern !== undefined &&
      pattern !== "*" && { pattern: tool === "bash" ? commandPattern(pattern, says) : pattern }),
    says,
  }));
}

/**
 * Converts a command pattern. `git diff*` of opencode means the command with any arguments, while a star in subcrew's
 * patterns would also match `git difftool`.
 */
const commandPattern = (pattern: string, says: AgentRule["says"]): string =>
  says === "allow" ? pattern.replace(/(?<=\S)\*$/, " *") : pattern;

/**
 * Completes the tools and rules of an agent: tools that are denied entirely are removed, and all other entries become
 * rules about calls. `also` are tools that other keys allow.
 */
function settle(draft: Draft, rules: AgentRules, key: string, also: readonly string[] = []): void {
  const closed = rules.findLast(({ tool, pattern }) => tool === ALL_TOOLS && pattern === undefined)?.says === "deny";
  const named = [...new Set(rules.map(({ tool }) => tool))].filter((tool) => tool !== ALL_TOOLS);
  const gone = named.filter((tool) => isShut(rulesFor(rules, tool)));
  if (closed) allow(draft, [...named.filter((tool) => !gone.includes(tool)), ...also], key);
  else deny(draft, gone, key);
  const left = rules.filter(({ tool, says }) => !gone.includes(tool) && !(tool === ALL_TOOLS && says === "deny"));
  const counting = left.filter((rule, at) => !left.slice(at + 1).some((later) => isOverruled(rule, later)));
  narrowBy(
    draft,
    counting.filter((rule, at) => rule.says !== "allow" || liftsAny(rule, counting.slice(0, at))),
    key,
  );
}

/** True for an `allow` that has an effect, because an earlier rule asks or denies. */
const liftsAny = ({ tool }: AgentRule, before: AgentRules): boolean =>
  before.some((rule) => rule.says !== "allow" && toolMatches(rule.tool, tool));

const isOverruled = ({ tool }: AgentRule, later: AgentRule): boolean =>
  later.pattern === undefined && toolMatches(later.tool, tool);

/**
 * Reads which agents the agent may start: true, false, or a decision for each name. The last decision that matches a
 * name counts. `ask` is not supported.
 */
function spawnsBy(draft: Draft, rule: unknown, key: string): void {
  const rules = isRecord(rule) ? Object.entries(rule) : [["*", rule] as const];
  const entries = rules.map(([name, answer]) => (answerOf(answer) === "allow" ? name : `!${name}`));
  const allowed = simplerSpawns(entries);
  allowSpawns(draft, allowed === "*" ? ["*"] : allowed, key);
  if (allowed.length === 0) deny(draft, [DELEGATION_TOOL], key);
}

/** Reads the newer form of opencode's permissions: a list of `{ permission, pattern, action }`. */
export function fromRules(draft: Draft, rules: readonly unknown[], key: string): AgentRules {
  return rules.flatMap((rule) => {
    const { permission: name, pattern, action } = isRecord(rule) ? rule : {};
    if (typeof name !== "string" || (pattern !== undefined && typeof pattern !== "string")) {
      addProblem(draft, "bad-value", `A rule of "${key}" cannot be read; every call needs approval instead.`, {
        field: key,
      });
      return ASK_ALL;
    }
    return rulesOf(draft, name, pattern === undefined ? action : { [pattern]: action }, key);
  });
}
