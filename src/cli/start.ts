import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { BudgetLimits } from "../core/budget.ts";
import { CrewError } from "../core/error.ts";
import type { AnyInput } from "../core/input.ts";
import { createCrew, type Crew, type RunOptions } from "../crew.ts";
import { defined } from "../modes/settings.ts";
import { attend } from "./attend.ts";
import type { Flags } from "./flags.ts";
import { terminal } from "./terminal.ts";

/** Runs an input in front of a person, or of a program, and gives back the exit code. */
export async function start(input: AnyInput, flags: Flags): Promise<number> {
  const place = terminal(flags);
  const crew = await crewFor(flags);
  return attend(crew.run(input, runOptionsOf(flags, place)), flags, place);
}

/** The crew that the flags describe. */
export async function crewFor({ cwd, trust }: Pick<Flags, "cwd" | "trust">): Promise<Crew> {
  if (cwd !== undefined) await checkFolder(cwd);
  return createCrew({ ...(cwd !== undefined && { cwd: resolve(cwd) }), ...(trust && { trusted: true }) });
}

/** What the flags say about a run as a whole. */
export function runOptionsOf(
  { maxTime, strict, yes, concurrency, name, deltas, json, maxDepth, ...flags }: Flags,
  { attended }: { attended: boolean },
): RunOptions {
  if (deltas && !json)
    throw new CrewError("BAD_INPUT", "--deltas only goes with --json.", "Add --json, or leave it out.");
  return {
    unattended: !attended && !yes,
    ...(maxTime !== undefined && { maxTimeMs: maxTime }),
    ...(strict && { strict }),
    ...(concurrency !== undefined && { concurrency }),
    ...(name !== undefined && { name }),
    ...(maxDepth !== undefined && { maxDepth }),
    budget: budgetOf(flags),
  };
}

function budgetOf({ maxUsd, maxTokens, maxTurns, maxToolCalls, maxSpawns }: Pick<Flags, keyof BudgetLimits>): BudgetLimits {
  return defined({ maxUsd, maxTokens, maxTurns, maxToolCalls, maxSpawns }) as BudgetLimits;
}

async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory()) return;
  throw new CrewError(
    "BAD_FILE",
    found ? `--cwd: "${folder}" is not a folder.` : `--cwd: there is no folder "${folder}".`,
    "Check the path; it starts from the folder you are in.",
  );
}
