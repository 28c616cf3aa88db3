import { formatDuration } from "../text/duration.ts";
import type { ReachedLimit } from "./outcome-schema.ts";

export type { ReachedLimit };

/** The codes of failures at a limit. */
export type LimitCode = "TIMEOUT" | "MAX_TURNS" | "MAX_TOOL_CALLS" | "BUDGET";

/** The failure code of a task without a result at this limit. */
export function codeOfLimit({ kind }: ReachedLimit): LimitCode {
  return codes[kind];
}

const codes: Readonly<Record<ReachedLimit["kind"], LimitCode>> = {
  turns: "MAX_TURNS",
  toolCalls: "MAX_TOOL_CALLS",
  time: "TIMEOUT",
  usd: "BUDGET",
  tokens: "BUDGET",
  spawns: "BUDGET",
};

/** A limit in words: `2 turns`, `30s of time`, `$0.5 for the whole run`. */
export function limitText({ kind, value, run, cap }: ReachedLimit): string {
  const whole = cap === undefined ? (run ? " for the whole run" : "") : ` ${CAPS[cap].text}`;
  return `${amounts[kind](value)}${whole}`;
}

const CAPS = {
  day: { text: "a day for all runs", setting: "spending.perDay" },
  project: { text: "for all runs in this project", setting: "spending.perProject" },
} as const;

const amounts: Readonly<Record<ReachedLimit["kind"], (value: number) => string>> = {
  turns: (value) => `${value} ${value === 1 ? "turn" : "turns"}`,
  toolCalls: (value) => `${value} tool ${value === 1 ? "call" : "calls"}`,
  time: (value) => `${formatDuration(value)} of time`,
  usd: (value) => `$${value < 1e-6 ? value.toFixed(12).replace(/0+$/, "") : value}`,
  tokens: (value) => `${value} ${value === 1 ? "token" : "tokens"}`,
  spawns: (value) => `${value} started ${value === 1 ? "agent" : "agents"}`,
};

/** The flag that raises this limit, or the setting if it is a cap over all runs. */
export function limitFlag({ kind, run, cap }: ReachedLimit): string {
  if (cap !== undefined) return `the setting ${CAPS[cap].setting}.${kind === "usd" ? "maxUsd" : "maxTokens"}`;
  return flags[kind][run ? 1 : 0];
}

const flags: Readonly<Record<ReachedLimit["kind"], readonly [task: string, run: string]>> = {
  time: ["--max-time", "--max-run-time"],
  turns: ["--max-turns", "--max-run-turns"],
  toolCalls: ["--max-tool-calls", "--max-tool-calls"],
  usd: ["--max-usd", "--max-usd"],
  tokens: ["--max-tokens", "--max-tokens"],
  spawns: ["--max-spawns", "--max-spawns"],
};

/** A note for readers of a result that a limit cut short; empty for a complete result. */
export function limitNote({ limit }: Readonly<{ limit?: ReachedLimit }>): string {
  return limit === undefined ? "" : `stopped at its limit of ${limitText(limit)}; this may be incomplete`;
}
