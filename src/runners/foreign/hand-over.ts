import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { failed, type Outcome, withPartial } from "../../core/outcome/outcome.ts";
import { createPolicy } from "../../core/policy/policy.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment, Runner } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import { reasonOf } from "../../runtime/async/cancel.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { topOf } from "../../runtime/git/git.ts";
import { reporterOf } from "../../runtime/loop/corrections.ts";
import { finishText } from "../../runtime/loop/finish-tool.ts";
import { createProviderParking } from "../../runtime/loop/park.ts";
import { type Bounds, boundsOf, lacking } from "./bounds.ts";
import { reportedFault } from "./reported-fault.ts";
import type { Tally } from "./tally.ts";
import type { ForeignTask, ForeignTool } from "./tool.ts";

/** The parts that the runners of all other agent programs use. */
export type ForeignParts = Readonly<{
  env: Readonly<Record<string, string | undefined>>;
  /** Environment variables that are passed on in addition to the default variables. */
  passEnv: readonly string[];
  /** Makes the run wait for some work before it ends. */
  linger(work: Promise<unknown>): void;
}>;

/** The folders that the agents of a task can write; programs are not searched in these folders. */
export function writtenBy({ call, toolContext, access }: Assignment): string[] {
  return [toolContext.cwd, ...(access?.roots ?? []), ...(call.worktree ? [call.worktree.of] : [])];
}

/** A task that is handed over to another agent program. */
export type ForeignHandover = Readonly<{
  assignment: Assignment;
  context: PerformContext;
  bounds: Bounds;
  asked: Omit<ForeignTask, "bounds" | "rulesFile" | "usageFile">;
}>;

/**
 * Refuses a task whose restrictions the program cannot enforce, unless the user accepted that. An interrupted task is
 * never repeated, because its effects are unknown.
 */
export function handOver(
  name: string,
  { keeps, obeys = [] }: Pick<ForeignTool, "keeps" | "obeys">,
  work: (task: ForeignHandover) => Promise<Outcome>,
): Runner {
  return async (assignment, context) => {
    const { call, rights, access, agent, toolContext } = assignment;
    const cwd = await realpath(toolContext.cwd).catch(() => toolContext.cwd);
    const who = call.task.agent ?? agent.name;
    if (context.signal.aborted) return { status: "cancelled", reason: reasonOf(context.signal) };
    const past = await context.past();
    const last = (wanted: string): number => past.findLastIndex(({ type }) => type === wanted);
    if (last("turn.started") > last("node.parked"))
      return failed("CRASHED", `"${who}" was running in ${name} when the run was interrupted.`, {
        hint: "`subcrew resume --retry-failed` starts the task again from the beginning.",
      });
    const { sandbox, weaker } = access?.demands ?? { sandbox: "auto", weaker: false };
    const policy = access?.policy() ?? createPolicy("default");
    const reach = [cwd, ...(access?.roots ?? [])];
    const closed = (access?.closedBelow(reach) ?? []).filter((path) => !folderContains(path, cwd)); // a forbidden folder that contains the working folder does not count, as with a worktree
    const bounds = boundsOf({ rights, policy, sandbox, checkedLater: call.worktree !== undefined, closed });
    const missing = [
      ...lacking(bounds, keeps),
      ...found(obeys, cwd, (await topOf(cwd)) ?? cwd).map((file) => `the program reads ${file} of the project`),
    ];
    const text = `${name} cannot enforce all restrictions of "${who}": ${missing.join("; ")}.`;
    if (missing.length > 0 && !weaker)
      return failed("DENIED", text, { hint: "Run the task anyway with --allow-weaker, or choose another runner." });
    if (missing.length > 0) context.emit({ type: "warning", code: "WEAKER", text });
    const begin = (): Promise<Outcome> => work({ assignment, context, bounds, asked: askedOf(assignment) });
    return parkWhileRefused(name, { assignment, context }, begin);
  };
}

/**
 * While the provider refuses requests of the program, parks the task (lets it wait), if the run allows that, and starts
 * it again later. A task that has used a tool fails instead, because a new start would repeat its effects.
 */
async function parkWhileRefused(
  name: string,
  { assignment, context }: Pick<ForeignHandover, "assignment" | "context">,
  begin: () => Promise<Outcome>,
): Promise<Outcome> {
  const { reopening: _ours, ...model } = assignment.model; // the other agent program has its own key
  const park = createProviderParking({ model }, context);
  for (;;) {
    const outcome = await begin();
    const fault = outcome.status === "failed" ? reportedFault(name, outcome.fault) : undefined;
    if (!fault || Object.keys(outcome.tools ?? {}).length > 0) return outcome;
    const parked = await park(fault);
    if (parked === "does not wait") return outcome;
    if (parked === "stopped") return { status: "cancelled", reason: reasonOf(context.signal) };
  }
}

/**
 * The listed files that exist in the folder, or in a folder above it in the same repository. Files above the repository
 * are not the project's.
 */
function found(files: readonly string[], cwd: string, top: string): string[] {
  const above = cwd === top || cwd === dirname(cwd) ? [] : found(files, dirname(cwd), top);
  return [...new Set([...files.filter((file) => existsSync(join(cwd, file))), ...above])];
}

function askedOf({
  prompt,
  instructions,
  schema,
  model,
  agent,
  toolContext,
  access,
}: Assignment): ForeignHandover["asked"] {
  const shape = schema === undefined ? "" : fill(prompts.remoteSchema, new Map([["schema", JSON.stringify(schema)]]));
  return {
    prompt: [prompt, shape].filter((part) => part !== "").join("\n\n"),
    instructions,
    cwd: toolContext.cwd,
    roots: access?.roots ?? [],
    ...(model.id !== "" && { model: model.id }),
    ...defined({ thinking: agent.thinking }),
  };
}

/** The outcome of a task of another agent program: what stopped it, or its answer if that is valid. */
export function outcomeOf(
  { assignment, context }: Pick<ForeignHandover, "assignment" | "context">,
  tally: Pick<Tally, "output" | "spent">,
  stopped?: Outcome,
): Outcome {
  const text = tally.output();
  if (stopped) {
    const partial =
      stopped.status === "failed" || stopped.status === "cancelled" ? withPartial(stopped, text) : stopped;
    return { ...partial, ...tally.spent() };
  }
  const finish = finishText(text, assignment, reporterOf(context));
  if ("output" in finish) return { status: "ok", ...finish, ...tally.spent() };
  if ("gaveUp" in finish) return { ...failed("AGENT_REPORTED", finish.gaveUp), ...tally.spent() };
  const code = finish.empty ? "EMPTY" : "INVALID_OUTPUT";
  return {
    ...withPartial(
      failed(code, `The result cannot be used: ${finish.detail ?? finish.problem}.`, { retryable: true }),
      text,
    ),
    ...tally.spent(),
  };
}
