import type { Config } from "./config.ts";

/**
 * The settings of each preset, except the places of its agents (those are in `runtime/discovery/sources.ts`). A preset
 * imitates one other agent system. The user's settings, variables and flags take precedence over the preset.
 */
export const presetSettings: Readonly<Record<NonNullable<Config["preset"]>, Config>> = {
  unified: {},
  omp: {
    defaults: { limits: { reminders: 3 } },
    concurrency: 32,
    maxDepth: 2,
    schemaPrecedence: "agent",
    delegationTools: ["task"],
    toolNames: "omp",
    durations: "tight",
    output: { summaryChars: 5_000, maxBytes: 512_000, maxLines: 5_000 },
  },
  pegasus: {
    defaults: { limits: { maxTurns: 10 } },
    maxDepth: 1,
    delegationTools: ["spawn_subagent"],
    toolNames: "canonical",
    output: { summaryChars: 2_000, maxBytes: 50_000 },
  },
  mycode: {
    defaults: { limits: { maxTurns: 20 } },
    maxDepth: 3,
    delegationTools: ["Task"],
    toolNames: "claude",
    durations: "spaced",
    background: { maxRuns: 10 },
    resume: { expiresAfterDays: 7, maxContinuations: 5 },
    output: { summaryChars: 2_000, box: true },
  },
  "pi-parallel": {
    defaults: { limits: { maxDurationMs: 300_000 } },
    concurrency: 8,
    delegationTools: ["parallel"],
    toolNames: "pi",
    durations: "tight",
    references: "serial",
    output: { summaryChars: 2_000, summaryCut: "simple", maxBytes: 51_200, maxLines: 2_000 },
  },
  gemini: {
    defaults: { limits: { maxDurationMs: 300_000, graceMs: 60_000, reminders: 1 } },
    maxDepth: 1,
    delegationTools: ["delegate_to_agent"],
    toolNames: "gemini",
  },
};
