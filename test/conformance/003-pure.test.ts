import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { formatAgentList, type ListedAgent } from "../../src/core/agent/list.ts";
import {
  addCost,
  addUsage,
  type Cost,
  formatTokens,
  formatUsage,
  noCost,
  noUsage,
  type Usage,
} from "../../src/core/outcome/usage.ts";
import type { ContextOptions } from "../../src/core/plan/context.ts";
import { calculateBackoff, MAX_BACKOFF_MS, type RetryConfig, shouldRetry } from "../../src/core/plan/retry.ts";
import { parseReview, type Review } from "../../src/core/plan/review.ts";
import { taskId } from "../../src/core/plan/task-id.ts";
import { extractToolArgsPreview } from "../../src/core/task/preview.ts";
import { cutTail, INLINE_CHARS, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../../src/core/text/cut.ts";
import { formatDuration } from "../../src/core/text/duration.ts";
import { COLLAPSED_ITEM_COUNT, DEFAULT_CONCURRENCY, MAX_CONCURRENCY } from "../../src/core/vocabulary/limits.ts";
import {
  cleanupWorkspace,
  createWorkspace,
  type TaskResultStatus,
  writeTaskResult,
} from "../../src/compat/pi-parallel/workspace.ts";
import { buildContext } from "../../src/runtime/git/context.ts";
import { type GitContextOptions, getGitContext } from "../../src/runtime/git/git-context.ts";
import { repository } from "../support/repository.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { type Case, cases } from "./harness.ts";

/** One test per case of an area of system 003. */
function area<Input, Want>(name: string, check: (one: Case<Input, Want>) => void | Promise<void>): void {
  describe(name, () => {
    test.each(cases<Input, Want>("003-pi-parallel", name))("$name", check);
  });
}

area<{ toolName: string; args: Record<string, unknown> }, string>("tool-args-preview", ({ input, want }) => {
  expect(extractToolArgsPreview(input.toolName, input.args)).toBe(want);
});

area<{ error: string; retry: RetryConfig }, boolean>("retry-decision", ({ input, want }) => {
  expect(shouldRetry(input.error, input.retry)).toBe(want);
});

area<{ baseMs: number; attempt: number }, number>("retry-backoff", ({ input, want }) => {
  expect(calculateBackoff(input.baseMs, input.attempt)).toBe(want);
});

area<{ output: string }, Review>("review-decision", ({ input, want }) => {
  expect(parseReview(input.output)).toEqual(want);
});

area<{ index: number; name: string }, string>("task-id", ({ input, want }) => {
  expect(taskId(input.index, input.name)).toBe(want);
});

area<{ agents: ListedAgent[]; max: number }, { text: string; remaining: number }>(
  "agent-list-format",
  ({ input, want }) => {
    // SPEC C29: the case contains text and remaining number; subcrew also returns the number of listed agents.
    expect(formatAgentList(input.agents, input.max)).toEqual({ ...want, count: input.agents.length - want.remaining });
  },
);

area<{ count: number }, string>("format-tokens", ({ input, want }) => {
  expect(formatTokens(input.count)).toBe(want);
});

area<{ ms: number }, string>("format-duration", ({ input, want }) => {
  expect(formatDuration(input.ms)).toBe(want);
});

/** The cases list cost among the counters, and have neither reasoning tokens nor unknown prices. */
type FlatUsage = Partial<Omit<Usage, "reasoning">> & Readonly<{ cost?: number }>;

function unflat({ cost = 0, ...counters }: FlatUsage): { usage: Usage; cost: Cost } {
  return { usage: { ...noUsage(), ...counters }, cost: { usd: cost, unpriced: 0 } };
}

area<{ usage: FlatUsage; model: string | null }, string>("format-usage", ({ input, want }) => {
  const { usage, cost } = unflat(input.usage);
  expect(formatUsage(usage, cost, input.model ?? undefined)).toBe(want);
});

area<{ adds: FlatUsage[] }, FlatUsage>("usage-add", ({ input, want }) => {
  const sum = input.adds
    .map(unflat)
    .reduce((total, one) => ({ usage: addUsage(total.usage, one.usage), cost: addCost(total.cost, one.cost) }), {
      usage: noUsage(),
      cost: noCost(),
    });
  expect(sum).toEqual(unflat(want));
});

const constants: Readonly<Record<string, number>> = {
  MAX_OUTPUT_LINES,
  MAX_OUTPUT_BYTES,
  DEFAULT_CONCURRENCY,
  MAX_CONCURRENCY,
  COLLAPSED_ITEM_COUNT,
  cap: MAX_BACKOFF_MS,
  "summary maxLen": INLINE_CHARS,
};

area<{ constant: string }, number>("constants", ({ input, want }) => {
  expect(constants[input.constant]).toBe(want);
});

const generated: Readonly<Record<string, string>> = {
  "2001 lines keeps tail 2000": Array.from({ length: 2001 }, (_, i) => `l${i}`).join("\n"),
  "60KB single line": "x".repeat(60 * 1024),
};

type Truncated = Readonly<{ truncated: boolean; length: number; first20: string; last5: string }>;

area<{ generator: string }, Truncated>("output-truncate", ({ input, want }) => {
  const { text, cut } = cutTail(generated[input.generator] ?? "");
  expect({ truncated: cut, length: text.length, first20: text.slice(0, 20), last5: text.slice(-5) }).toEqual(want);
});

area<{ files: Record<string, string>; options: ContextOptions }, string>("context", async ({ input, want }) => {
  const folder = tempFolder(input.files);
  // A path is shown as it was given, relative to the folder.
  expect(await buildContext(folder, input.options)).toBe(want.replaceAll("<cwd>/", ""));
});

type GitInput = Readonly<{ setup?: string[]; options?: boolean | GitContextOptions; gitContext?: true }>;

area<GitInput, string>("git-context", async ({ input, want }) => {
  const setup = input.setup?.slice(1) ?? ["commit --allow-empty -m init"];
  const folder = repository(...setup.map((line) => line.replace(/^commit /, "git commit -q ")));
  const text = await getGitContext(input.gitContext ?? input.options ?? false, folder);
  expect(text.replace(/^[0-9a-f]{7,} /m, "<sha> ")).toBe(want);
});

type NewWorkspace = Readonly<{
  prefix: string;
  tasksDir: string;
  artifactsDir: string;
  exists: boolean;
  cleaned: boolean;
}>;
type Written = Readonly<{ file: string; json: Record<string, string>; timestamp: string }>;
type WorkspaceInput =
  | Readonly<{ teamName: string | null }>
  | Readonly<{ taskId: string; output: string; status: TaskResultStatus }>;

area<WorkspaceInput, NewWorkspace | Written>("workspace", ({ input, want }) => {
  if ("teamName" in input) {
    const workspace = createWorkspace(input.teamName ?? undefined, tempFolder());
    const name = basename(workspace.root);
    const seen = {
      prefix: name.replace(/-\d{13}-/, "-<ms>-").slice(0, -6),
      tasksDir: relative(workspace.root, workspace.tasksDir),
      artifactsDir: relative(workspace.root, workspace.artifactsDir),
      exists: existsSync(workspace.tasksDir) && existsSync(workspace.artifactsDir),
    };
    cleanupWorkspace(workspace);
    expect({ ...seen, cleaned: !existsSync(workspace.root) }).toEqual(want);
  } else {
    const workspace = createWorkspace("team", tempFolder());
    writeTaskResult(workspace, input.taskId, input.output, input.status);
    const { file, json, timestamp } = want as Written;
    const written = JSON.parse(readFileSync(join(workspace.root, file), "utf8")) as Record<string, unknown>;
    expect({ ...written, timestamp: typeof written["timestamp"] }).toEqual({ ...json, timestamp });
  }
});
