import { stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import type { ContextOptions } from "../../core/plan/context.ts";
import type { Task } from "../../core/plan/task.ts";
import type { BudgetLimits } from "../../core/run/budget.ts";
import { runParameters } from "../../core/run/run-parameters.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { nearest } from "../../core/text/nearest.ts";
import type { ResourceLimits } from "../../core/vocabulary/limits.ts";
import { type Thinking, thinking } from "../../core/vocabulary/thinking.ts";
import { toolNames, toolsNamed } from "../../core/vocabulary/tool-names.ts";
import type { RunOptions } from "../../crew/prepare/run-options.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import type { Flags, OptionFlags } from "../base/flags.ts";

export type RunFlags = Partial<
  Pick<
    Task,
    | "model"
    | "thinking"
    | "tools"
    | "retry"
    | "resourceLimits"
    | "runner"
    | `isolation${"" | "Dirty" | "Keep"}`
    | "writes"
    | "fork"
  >
>;
export type RunSettings = ContextOptions & { name?: string; maxConcurrency?: number };

/** The task settings that the flags give. */
export function settingsIn(flags: Flags): RunFlags {
  const { model, thinking: level, tools, retry, maxTurns, maxTime, maxMemory, runner } = flags;
  const { isolation, isolationDirty, isolationKeep, writes, fork } = flags;
  const limits: ResourceLimits = defined({
    maxTurns,
    maxMemoryMB: maxMemory,
    maxDurationMs: maxTime,
  });
  return defined({
    model: model === undefined ? undefined : modelsOfFlag(model),
    thinking: level === undefined ? undefined : thinkingOf(level),
    tools: tools?.flatMap(toolsOf),
    retry: retry && { ...retry },
    runner,
    isolation,
    isolationDirty,
    isolationKeep,
    writes: writes && [...writes],
    fork,
    resourceLimits: Object.keys(limits).length > 0 ? limits : undefined,
  });
}

/** The run settings that the flags give. */
export async function runIn({ context, contextFile, gitContext, name, concurrency, cwd }: Flags): Promise<RunSettings> {
  return {
    ...defined({ context }),
    ...(contextFile && {
      contextFiles: await Promise.all(contextFile.map((file) => contextPath(file, resolve(cwd ?? ".")))),
    }),
    ...(gitContext && { gitContext }),
    ...defined({ name, maxConcurrency: concurrency }),
  };
}

/** The path of a context file relative to the run's workspace. */
async function contextPath(file: string, workspace: string): Promise<string> {
  const path = relative(workspace, resolve(file));
  const found = await stat(resolve(file)).catch(() => undefined);
  if (!found?.isFile())
    throw new CrewError(
      "BAD_FILE",
      found ? `--context-file: "${file}" is not a file.` : `--context-file: the file "${file}" does not exist.`,
      "Check the path; it is relative to the current folder.",
    );
  if (folderContains(resolve(workspace), resolve(file))) return path;
  throw new CrewError(
    "BAD_FILE",
    `--context-file: "${file}" is outside of the working folder.`,
    "Choose a folder with --cwd that contains the file, or give its text with --context.",
  );
}

/** The models of `--model`, in order of preference. */
export function modelsOfFlag(text: string): string | string[] {
  const names = text.startsWith(SCRIPTED)
    ? [text]
    : text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "");
  const [only, ...more] = names.map(modelName);
  if (only === undefined) throw new CrewError("BAD_INPUT", "--model is empty.", "Give a model, as in --model offline.");
  return more.length === 0 ? only : [only, ...more];
}

const SCRIPTED = "scripted:";

/**
 * A model name given by a flag. The file of a scripted model is resolved against the current folder, even with --cwd.
 */
export function modelName(name: string): string {
  return name.startsWith(SCRIPTED) ? `${SCRIPTED}${resolve(name.slice(SCRIPTED.length))}` : name;
}

function thinkingOf(text: string): Thinking {
  const parsed = thinking.safeParse(/^\d+$/.test(text) ? Number(text) : text);
  if (parsed.success) return parsed.data;
  throw new CrewError(
    "BAD_INPUT",
    `--thinking cannot be "${text}".`,
    "Give off, minimal, low, medium, high, xhigh, or a number of tokens.",
  );
}

function toolsOf(written: string): readonly string[] {
  const named = toolsNamed(written);
  if (named.length > 0) return named;
  const close = nearest(written, toolNames);
  throw new CrewError(
    "UNKNOWN_TOOL",
    `Unknown tool "${written}".`,
    close === undefined
      ? "Known tools: read_file, list_files, glob, grep_files and more; without --tools an agent has the tools of its file."
      : `Did you mean "${close}"?`,
  );
}

/** The run options that the flags give. A flag with the name of a run option sets that option. */
export function runOptionsOf(flags: Flags, { attended }: { attended: boolean }): RunOptions {
  const { unattended, bg = false, answerTimeout, maxRunTime, placementTimeout } = flags;
  if (flags.deltas && !flags.json && flags.output !== "stream-json")
    throw new CrewError("BAD_INPUT", "--deltas requires --json.", "Add --json, or leave out --deltas.");
  return {
    ...runFlagsIn(flags),
    unattended: unattended === true || !(attended || bg),
    parkByDefault: attended || bg,
    ...defined({ answerTimeoutMs: answerTimeout, maxTimeMs: maxRunTime, placementTimeoutMs: placementTimeout }),
    budget: budgetOf(flags),
  };
}

function runFlagsIn(flags: Flags): OptionFlags {
  const names = Object.keys(runParameters.shape) as (keyof OptionFlags)[];
  return defined(Object.fromEntries(names.map((name) => [name, flags[name]])));
}

function budgetOf({
  maxUsd,
  maxTokens,
  maxRunTurns,
  maxToolCalls,
  maxSpawns,
}: Pick<Flags, "maxUsd" | "maxTokens" | "maxRunTurns" | "maxToolCalls" | "maxSpawns">): BudgetLimits {
  return defined({ maxUsd, maxTokens, maxTurns: maxRunTurns, maxToolCalls, maxSpawns });
}

/** Refuses a folder of --cwd that does not exist. */
export async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory()) return;
  throw new CrewError(
    "BAD_FILE",
    found ? `--cwd: "${folder}" is not a folder.` : `--cwd: the folder "${folder}" does not exist.`,
    "Check the path; it is relative to the current folder.",
  );
}
