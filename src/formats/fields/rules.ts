import type { Agent, PermissionMode } from "../../core/agent/agent.ts";
import { decimalIn } from "../../core/schema/decimal.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { isRecord, scalarText } from "../../core/text/json.ts";
import { limitsIn, limitWords } from "../../core/vocabulary/limits.ts";
import { parseRunnerName, runnerWords } from "../../core/vocabulary/runner-name.ts";
import { SAMPLING } from "../../core/agent/agent-numbers.ts";
import type { Thinking } from "../../core/vocabulary/thinking.ts";
import { ALL_TOOLS, DELEGATION_TOOL, foldName, SANDBOXED_TOOLS } from "../../core/vocabulary/tool-names.ts";
import { addProblem, type Draft, type KeyReader, put } from "./draft.ts";
import { listOf } from "./lists.ts";

type TextField =
  | "name"
  | "description"
  | "instructions"
  | "extends"
  | "displayName"
  | "whenToUse"
  | "documentation"
  | "outputName";

/** Reads a word or a text. Numbers are taken as written; anything else is reported. */
export const text =
  (field: TextField): KeyReader =>
  (draft, value, key) => {
    if (typeof value === "string") {
      if (field === "instructions" ? value.trim() !== "" : value !== "")
        put(draft, field, field === "name" ? value.trim() : value, key);
    } else if (typeof value === "number" || typeof value === "boolean") put(draft, field, String(value), key);
    else if (value !== null) bad(draft, key, "a text");
  };

/** Reads a number, in quotes or not. */
export const number =
  (field: "temperature" | "topP"): KeyReader =>
  (draft, value, key) => {
    const read = numberOf(value);
    const { min, max } = SAMPLING[field];
    if (read === undefined || read < min || read > max) bad(draft, key, `a number from ${min} to ${max}`);
    else put(draft, field, read, key);
  };

/** Reads a duration such as `10m`. A number needs its unit. */
export const span =
  (field: "cacheMs"): KeyReader =>
  (draft, value, key) => {
    const ms = typeof value === "string" || typeof value === "number" ? parseDuration(String(value)) : undefined;
    const bare = ms === undefined ? numberOf(value) : undefined;
    if (bare !== undefined) bad(draft, key, `a number with a unit: ${bare}s or ${bare}m`);
    else if (ms === undefined) bad(draft, key, "a span of time, as in 10m");
    else put(draft, field, ms, key);
  };

/** Reads true or false, also as words. */
export const flag =
  (field: "background" | "hidden" | "modelLock", { not = false }: { readonly not?: boolean } = {}): KeyReader =>
  (draft, value, key) => {
    const read = flagOf(value);
    if (read === undefined) bad(draft, key, "true or false");
    else put(draft, field, read !== not, key);
  };

/**
 * Reads whether the agent gets the project's instructions: `on`, `off`, true or false. `not`: the key means the
 * opposite.
 */
export const projectInstructions =
  ({ not = false }: { readonly not?: boolean } = {}): KeyReader =>
  (draft, value, key) => {
    const read = flagOf(value);
    if (read === undefined) bad(draft, key, "on or off");
    else put(draft, "projectInstructions", read === not ? "off" : "on", key);
  };

/** Reads a key that disables the agent if its value is `when`. */
export const switchedOff =
  (when: boolean): KeyReader =>
  (draft, value, key) => {
    const read = flagOf(value);
    if (read === undefined) return bad(draft, key, "true or false");
    if (read === when) draft.disabled = true;
  };

/** Reads one of a few words; `words` maps the written word to its meaning. */
export const choice =
  <K extends keyof Agent>(field: K, words: Readonly<Record<string, NonNullable<Agent[K]> | undefined>>): KeyReader =>
  (draft, value, key) => {
    const written = scalarText(value);
    if (!Object.hasOwn(words, written)) return bad(draft, key, `one of ${Object.keys(words).join(", ")}`);
    const meant = words[written];
    if (meant !== undefined) put(draft, field, meant, key);
  };

/** Reads the runner of the agent's tasks. */
export const runner: KeyReader = (draft, value, key) => {
  const name = typeof value === "string" ? parseRunnerName(value) : undefined;
  if (name === undefined) bad(draft, key, `one of ${runnerWords}`);
  else put(draft, "runner", name, key);
};

/** Reads a limit of turns or time; `unit`: the number of milliseconds in one unit of a time. */
export const limit =
  (which: "maxTurns" | "maxDurationMs", unit = 1): KeyReader =>
  (draft, value, key) => {
    const read = numberOf(value);
    const scaled = read === undefined ? undefined : Math.round(read * unit);
    if (scaled === undefined || scaled <= 0 || !Number.isSafeInteger(scaled))
      return bad(draft, key, "a number above zero that is not too large");
    draft.agent.limits = { ...draft.agent.limits, [which]: scaled };
    draft.from["limits"] ??= key;
    draft.from[`limits.${which}`] = key;
  };

/** Reads the limits of pi-parallel-agents, as one object. A wrong limit is reported, and the others still apply. */
export const limits: KeyReader = (draft, value, key) => {
  if (!isRecord(value)) return bad(draft, key, "an object of limits");
  const wrong = Object.keys(value).filter((name) => limitsIn({ [name]: value[name] }) === undefined);
  for (const name of wrong) {
    const words = limitWords(name);
    const problem = words === undefined ? "is not a limit" : `has to be ${words}`;
    addProblem(draft, "bad-value", `"${key}.${name}" ${problem}.`, { field: key });
  }
  const read = limitsIn(Object.fromEntries(Object.entries(value).filter(([name]) => !wrong.includes(name)))) ?? {};
  if (wrong.length > 0 && Object.keys(read).length === 0) return void draft.kept.push(key);
  for (const name of Object.keys(read)) draft.from[`limits.${name}`] ??= key;
  draft.agent.limits = { ...read, ...draft.agent.limits };
  draft.from["limits"] ??= key;
};

/** Reads one model, or several in order of preference. */
export const model: KeyReader = (draft, value, key) => {
  const models = listOf(value);
  if (models === undefined) return value === null ? undefined : bad(draft, key, "a model or a list of models");
  if (models.length > 0) put(draft, "model", models.length === 1 ? models[0]! : models, key);
};

const LEVELS: Readonly<Record<string, Thinking>> = {
  off: "off",
  none: "off",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "xhigh",
};

/** The thinking level in the words of any file format, or a budget in tokens. */
export function thinkingOf(value: unknown): Thinking | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (value === false) return "off";
  if (typeof value !== "string") return undefined;
  const word = value.trim().toLowerCase();
  if (/^\d+$/.test(word)) return thinkingOf(Number(word));
  return Object.hasOwn(LEVELS, word) ? LEVELS[word] : undefined;
}

export const readThinking: KeyReader = (draft, value, key) => {
  const read = thinkingOf(value);
  if (read === undefined) bad(draft, key, `one of ${Object.keys(LEVELS).join(", ")}, or a number of tokens`);
  else put(draft, "thinking", read, key);
};

/** Reads the schema of the result as written; it is validated when it is used. Null and a string validate nothing. */
export const output: KeyReader = (draft, value, key) => {
  if (isRecord(value) || value === null || typeof value === "string") put(draft, "output", value, key);
  else bad(draft, key, "a schema");
  if (typeof value === "string")
    addProblem(draft, "no-effect", `"${key}" is text, not a schema, so the result has no fixed structure.`, {
      field: key,
    });
};

/** Reads how many characters of the agent's result its caller sees. */
export const summaryChars: KeyReader = (draft, value, key) => {
  const read = numberOf(value);
  if (read === undefined || !Number.isInteger(read) || read < 1) bad(draft, key, "a number of characters above zero");
  else put(draft, "summaryChars", read, key);
};

export const readSkills: KeyReader = (draft, value, key) => {
  const read = listOf(value);
  if (read === undefined) bad(draft, key, "a list of skills");
  else put(draft, "skills", read, key);
};

/** Reads other names for the agent. */
export const aliases: KeyReader = (draft, value) => {
  draft.aliases = listOf(value) ?? [];
};

/** The permission modes in the words of all file formats. */
const PERMISSIONS: Readonly<Record<string, PermissionMode>> = {
  plan: "plan",
  default: "default",
  manual: "default",
  acceptEdits: "acceptEdits",
  auto: "auto",
  dontAsk: "dontAsk",
  bypassPermissions: "bypass",
  readOnly: "plan",
  "read-only": "plan",
  "auto-edit": "acceptEdits",
  yolo: "bypass",
  bubble: "default",
  "workspace-write": "acceptEdits",
  "danger-full-access": "bypass",
};

/** Permission modes from read-only to never asking; of two modes, the mode with fewer permissions wins. */
const LADDER: readonly PermissionMode[] = ["plan", "dontAsk", "default", "acceptEdits", "auto", "bypass"];

/** Reads the permission mode. A file can only restrict its agent, so modes that would allow more are reported. */
export const readPermission: KeyReader = (draft, value, key) => {
  const written = scalarText(value);
  if (isCommandSandbox(key, written)) return readOnlySandbox(draft, key);
  const known = Object.keys(PERMISSIONS).find((word) => foldName(word) === foldName(written));
  if (known === undefined) {
    lowerPermission(draft, "plan", key); // an unreadable permission makes the agent read-only
    return bad(draft, key, `one of ${Object.keys(PERMISSIONS).join(", ")}; the agent may only read`);
  }
  const mode = PERMISSIONS[known]!;
  lowerPermission(draft, mode, key);
  if (/bypass|auto|accept/.test(mode)) {
    addProblem(
      draft,
      "no-effect",
      `"${key}: ${written}" grants no permissions in subcrew; only the user's settings do.`,
      {
        field: key,
      },
    );
  }
};

function lowerPermission({ agent, from }: Draft, mode: PermissionMode, key: string): void {
  if (agent.permission !== undefined && LADDER.indexOf(agent.permission) <= LADDER.indexOf(mode)) return;
  agent.permission = mode;
  from["permission"] = key;
}

/**
 * True for Codex's `sandbox_mode = "read-only"`, which restricts what commands may do instead of forbidding commands.
 */
const isCommandSandbox = (key: string, written: string): boolean =>
  foldName(key).startsWith("sandbox") && foldName(written) === "readonly";

/** Restricts an agent: its commands run read-only and without a network; it can read files, and has no web tools. */
function readOnlySandbox(draft: Draft, key: string): void {
  const { agent, from } = draft;
  agent.sandbox = "read-only";
  from["sandbox"] = key;
  agent.tools =
    agent.tools === undefined || agent.tools.includes(ALL_TOOLS)
      ? SANDBOXED_TOOLS
      : agent.tools.filter((tool) => SANDBOXED_TOOLS.includes(tool) || tool === DELEGATION_TOOL);
  from["tools"] ??= key;
}

/** Reads a known key that has no effect in subcrew, and keeps it. */
export const kept =
  (why = "has no effect in subcrew"): KeyReader =>
  (draft, _value, key) => {
    draft.kept.push(key);
    addProblem(draft, "no-effect", `"${key}" ${why}.`, { field: key });
  };

/** Keeps a key with a note of the author, without a warning. */
export const note: KeyReader = (draft, _value, key) => void draft.kept.push(key);

export function bad(draft: Draft, key: string, wanted: string): void {
  draft.kept.push(key);
  addProblem(draft, "bad-value", `"${key}" has to be ${wanted}.`, { field: key });
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  return typeof value === "string" ? decimalIn(value) : undefined;
}

export function flagOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const word = typeof value === "string" ? value.trim().toLowerCase() : undefined;
  if (word === "true" || word === "yes" || word === "on") return true;
  return word === "false" || word === "no" || word === "off" ? false : undefined;
}
