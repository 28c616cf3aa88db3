import { type FailedOutcome, failed, type Outcome } from "./outcome.ts";
import { codeOfLimit, type LimitCode, limitFlag, limitText, type ReachedLimit } from "./reached-limit.ts";

/** A limit that ends a task: its failure code, and its description for the outcome. */
export type TaskLimit = Readonly<{ code: LimitCode; limit: ReachedLimit }>;

/** A recorded limit; in an old journal there may be only its name. */
export type RecordedLimit = Readonly<{ name: string; text: string; reached?: ReachedLimit }>;

/** Why a task gets its last turn, and its failure if it returns no result in it. */
export type TaskEnding = Readonly<{ words: string; limit?: ReachedLimit; fail(lastTurn: string): FailedOutcome }>;

type TaskLimits = Readonly<{ maxTimeMs: number; maxTurns: number }>;

export const timeLimit = ({ maxTimeMs }: TaskLimits): TaskLimit => ({
  code: "TIMEOUT",
  limit: { kind: "time", value: maxTimeMs },
});

export const turnLimit = ({ maxTurns }: TaskLimits): TaskLimit => ({
  code: "MAX_TURNS",
  limit: { kind: "turns", value: maxTurns },
});

/** The ending of a task that reached a limit. */
export function endingAt({ code, limit }: TaskLimit): TaskEnding {
  const words = limitText(limit);
  return {
    words,
    limit,
    fail: (lastTurn) =>
      failed(code, `The task reached its limit of ${words} without a result.${lastTurn}`, {
        hint: `Raise the limit with ${limitFlag(limit)}.`,
        retryable: code === "TIMEOUT",
      }),
  };
}

/** The ending of a task that makes no progress. */
export function idleEnding(code: keyof typeof idleTexts, text: string): TaskEnding {
  const { words, hint } = idleTexts[code];
  return { words, fail: (lastTurn) => failed(code, `${text}${lastTurn}`, { hint }) };
}

const idleTexts = {
  STUCK: {
    words: "the same call with the same result again and again",
    hint: "Give the agent other tools, or a narrower task.",
  },
  DENIED: {
    words: "turns whose calls were all refused",
    hint: "Allow the agent the tools it needs, or change its task.",
  },
} as const;

/** Why a task got its last turn before it was resumed. */
export function recordedEnding({ name, reached, text }: RecordedLimit, limits: TaskLimits): TaskEnding {
  if (name === "STUCK" || name === "DENIED") return idleEnding(name, text);
  if (reached?.run) return endingAt({ code: codeOfLimit(reached), limit: reached });
  if (name === "TIMEOUT") return endingAt(timeLimit(limits));
  if (name === "MAX_TURNS") return endingAt(turnLimit(limits));
  return endingAt({ code: "BUDGET", limit: { kind: "tokens", value: 0, run: true } });
}

/** The outcome of a task that does not start, because a limit of the run was reached. */
export function notBegun({ code, limit }: TaskLimit): Outcome {
  const text =
    limit.kind === "usd" || limit.kind === "tokens"
      ? `The first request of this task needs more than the rest of the limit of ${limitText(limit)}.`
      : `The run reached its limit of ${limitText(limit)} before this task began.`;
  return { ...failed(code, text, { hint: `Raise the limit with ${limitFlag(limit)}.` }), limit };
}

/** The failure of a task whose model has no known price, in a run with a limit in dollars. */
export function unpriced(model: string): FailedOutcome {
  return failed("BUDGET", `The price of ${model} is unknown, so a limit in dollars cannot be enforced.`, {
    hint: "Give the price of the model in the settings (providers.NAME.prices), or limit the run with --max-tokens.",
  });
}
