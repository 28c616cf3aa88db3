import { z } from "zod";
import { type ContextOptions, contextFields } from "../core/plan/context.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { Task } from "../core/plan/task.ts";
import { defined } from "../core/text/defined.ts";
import { narrowest } from "../core/vocabulary/limits.ts";

/** The fields of every mode's input that apply to the whole run. */
export const runSettings = {
  ...contextFields,
  name: z.string().optional().describe("name of the run"),
  maxConcurrency: z.number().int().min(1).optional().describe("how many tasks run at once"),
} as const;

type RunSettings = ContextOptions & { name?: string | undefined; maxConcurrency?: number | undefined };

/** The parts of a plan that come from the settings for the whole run. */
export function runParts(
  { context, contextFiles, gitContext, name, maxConcurrency }: RunSettings,
  notes: readonly string[] = [],
): Omit<Plan, "nodes" | "output"> {
  const background = defined({ context, contextFiles, gitContext });
  return defined({
    name,
    concurrency: maxConcurrency,
    context: Object.keys(background).length > 0 ? background : undefined,
    notes: notes.length > 0 ? [...notes] : undefined,
  });
}

/** The settings that a mode or a group of tasks may give for the tasks below it. */
export type TaskSettings = Pick<
  Task,
  | "agent"
  | "model"
  | "tools"
  | "thinking"
  | "systemPrompt"
  | "inputs"
  | "cwd"
  | "schema"
  | "retry"
  | "resourceLimits"
  | "runner"
  | "isolation"
  | "isolationDirty"
  | "isolationKeep"
  | "writes"
  | "fork"
>;

/**
 * Merges task settings. Of each field, the value of the first level that sets it is used; of limits, the smallest
 * value.
 */
export function settingsOf(...levels: readonly (TaskSettings | undefined)[]): TaskSettings {
  const keys = [
    "agent",
    "model",
    "tools",
    "thinking",
    "systemPrompt",
    "inputs",
    "cwd",
    "schema",
    "retry",
    "runner",
    "isolation",
    "isolationDirty",
    "isolationKeep",
    "writes",
    "fork",
  ] as const;
  const first = Object.fromEntries(keys.map((key) => [key, levels.find((level) => level?.[key] !== undefined)?.[key]]));
  return defined<TaskSettings>({
    ...first,
    resourceLimits: narrowest(...levels.map((level) => level?.resourceLimits)),
  });
}
