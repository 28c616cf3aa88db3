import type { Agent } from "../../core/agent/agent.ts";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import { nearest } from "../../core/text/nearest.ts";
import { type Problem, type ProblemCode, type ProblemDetails, problem } from "../../core/vocabulary/file-problem.ts";
import { foldName } from "../../core/vocabulary/tool-names.ts";
import type { Data } from "../yaml/frontmatter.ts";

/** An agent that is incomplete because its file is still being read. */
export type Draft = {
  readonly agent: { -readonly [K in keyof Agent]?: Agent[K] };
  readonly from: Record<string, string>;
  readonly problems: Problem[];
  readonly kept: string[];
  disabled?: true;
  aliases?: readonly string[];
};

export const emptyDraft = (): Draft => ({ agent: {}, from: {}, problems: [], kept: [] });

/**
 * Reads one key of a file into the agent. `suggested: false`: the key is understood, but never suggested as the
 * correction of a mistyped key. `mistyped`: the reader for misspellings of this key; only keys that
 * restrict the agent have one.
 */
export type KeyReader = ((draft: Draft, value: unknown, key: string) => void) & {
  readonly suggested?: false;
  readonly mistyped?: KeyReader;
};

/** The keys of a file format. A new key is a new row. */
export type Fields = Readonly<{
  rows: Readonly<Record<string, KeyReader>>;
  /** Finds the reader of a key, however the key is spelled: `max-turns`, `max_turns`, `maxTurns`. */
  ruleOf(key: string): KeyReader | undefined;
  nearest(key: string): string | undefined;
  /** The reader of a mistyped key that would restrict the agent, such as `dissallowedTools`. */
  mistyped(key: string): KeyReader | undefined;
}>;

/** Prepares a table of keys. `exact`: other spellings of a known key are rejected. */
export function defineFields(
  rows: Readonly<Record<string, KeyReader>>,
  { exact = false }: { readonly exact?: boolean } = {},
): Fields {
  const known = Object.keys(rows).filter((key) => rows[key]!.suggested !== false);
  const exactly = new Map(Object.entries(rows));
  const folded = new Map(Object.entries(rows).map(([key, rule]) => [foldName(key), rule]));
  // Cached, because the same unknown keys occur in thousands of files.
  const near = new Map<string, string | undefined>();
  const nearestOf = (key: string): string | undefined => {
    if (!near.has(key)) {
      if (near.size > 500) near.clear();
      near.set(key, nearest(key, known));
    }
    return near.get(key);
  };
  return {
    rows,
    ruleOf: (key) => exactly.get(key) ?? (exact ? undefined : folded.get(foldName(key.replace(UNSEEN, "")))),
    nearest: (key) => resembling(key, nearestOf(key)) ?? (/tools?$/i.test(key) ? "tools" : undefined),
    mistyped(key) {
      const close = exact ? undefined : nearestOf(key);
      if (close === undefined || foldName(key)[0] !== foldName(close)[0]) return undefined; // a typo rarely changes the first letter
      return rows[close]?.mistyped ?? rows[SYNONYMS[close] ?? ""]?.mistyped;
    },
  };
}

/** Other words for the keys that most formats have; no format has a meaning of its own for them. */
const SYNONYMS: Readonly<Record<string, string>> = {
  tools: "onlyTools",
  disallowedTools: "bannedTools",
  readonly: "isReadonly",
  permissionMode: "permissionsMode",
};

/** Matches blanks and invisible characters, which are ignored in keys such as `allowed tools`. */
const UNSEEN = /[\s\p{Cf}]/gu;

/**
 * The known key that a key probably misspells. In short words two different letters are not a typo: `type` does not
 * mean `topP`.
 */
function resembling(key: string, close: string | undefined): string | undefined {
  if (close === undefined || key.length > 4 || close === "tools") return close;
  const [one, other] = [foldName(key), foldName(close)];
  return one.startsWith(other) || other.startsWith(one) ? close : undefined;
}

/** Applies every key of the file; unknown keys are kept and reported, with the most similar known key. */
export function readFields(fields: Fields, data: Data, draft: Draft): void {
  const keys = Object.keys(data);
  const unknown: string[] = [];
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at]!;
    const rule = fields.ruleOf(key) ?? fields.mistyped(key);
    if (rule !== undefined) rule(draft, data[key], key);
    else if (fields.nearest(key) !== undefined) resemblingField(draft, key, fields.nearest(key)!);
    else unknown.push(key);
  }
  draft.kept.push(...unknown);
  if (unknown.length > 0) unknownFields(draft, unknown);
}

/** Warns about a key that resembles a known key, since the author of the file may expect that the key has an effect. */
function resemblingField(draft: Draft, key: string, close: string): void {
  draft.kept.push(key);
  addProblem(draft, "unknown-field", `"${key}" is not a key of this kind of file; it has no effect.`, {
    field: key,
    hint: `Did you mean "${close}"?`,
  });
}

/** Reports all unknown keys that do not resemble a known key together, in one line. */
function unknownFields(draft: Draft, keys: readonly string[]): void {
  const named = keys.slice(0, MOST_NAMED).map((key) => `"${key.slice(0, 40)}"`);
  const more = keys.length > MOST_NAMED ? ` and ${keys.length - MOST_NAMED} more` : "";
  const message =
    keys.length === 1
      ? `${named[0]} is not a key of this kind of file; it has no effect.`
      : `${named.join(", ")}${more} are not keys of this kind of file; they have no effect.`;
  addProblem(draft, "unknown-field", message, { field: keys[0]!, severity: "info" });
}

const MOST_NAMED = 5;

/** Sets a field once. A second key for the same field does not replace the first. */
export function put<K extends keyof Agent>(draft: Draft, field: K, value: Agent[K], key: string): void {
  if (draft.agent[field] !== undefined) {
    addProblem(
      draft,
      "duplicate-key",
      `"${key}" means the same as "${draft.from[field]}"; "${draft.from[field]}" is used.`,
      {
        field: key,
        severity: "warning",
      },
    );
    return;
  }
  draft.agent[field] = value;
  draft.from[field] = key;
}

export function addProblem(draft: Draft, code: ProblemCode, message: string, details?: ProblemDetails): void {
  draft.problems.push(problem(code, message, details));
}

/** The finished agent, with the data that it was read from. */
export function toReadAgent(draft: Draft, raw: Data, recovered: boolean): ReadAgent {
  const { from, kept, disabled, aliases } = draft;
  const read: { -readonly [K in keyof ReadAgent]: ReadAgent[K] } = { agent: draft.agent as Agent, from, raw, kept };
  if (recovered) read.recovered = true;
  if (disabled) read.disabled = true;
  if (aliases !== undefined) read.aliases = aliases;
  return read;
}
