import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { emptyCatalog } from "../../core/delegation/catalog.ts";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import { attemptPath } from "../../core/plan/isolation.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { taskContext } from "../../core/task/task-context.ts";
import type { Job } from "../../core/task/job.ts";
import { remoteAgents } from "../../defaults.ts";
import { type CrewSetup, homeOf } from "../outfit/setup.ts";
import type { Outfit } from "../outfit/outfit.ts";
import { createPendingCleanup } from "../../runtime/async/pending-cleanup.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { openPreviousRuns } from "../../runtime/resume/previous-runs.ts";
import { openTaskWork } from "../outfit/task-work.ts";
import { deckOfJob } from "./deck-of-job.ts";

/** Where a worker executes a job: its settings for the folder, and the folders that it serves. */
export type JobPlace = Readonly<{ setup: CrewSetup; outfit: Outfit; folders: readonly string[] }>;

/** Executes a job in a folder that the worker serves. */
export async function performJob(
  job: Job,
  given: PerformContext,
  { setup, outfit, folders }: JobPlace,
): Promise<Outcome> {
  const { call, agent, catalog = emptyCatalog, holds, prices } = job;
  const { store, redactor } = outfit;
  if (!(await isInside([setup.cwd, ...folders], resolve(setup.cwd, call.task.cwd ?? "."))))
    return failed("DENIED", `This worker does not serve the folder ${call.task.cwd}.`);
  // A subagent works in the worktree of its parent. That must be one that a worker with this home folder created: a row
  // of the database cannot name another folder.
  const worktrees = store.local(call.run, "worktrees");
  if (call.worktree && !(worktrees !== undefined && folderContains(worktrees, call.worktree.top)))
    return failed("DENIED", `This worker does not have the worktree ${call.worktree.top}.`);
  const lingering = createPendingCleanup();
  const past = await given.past();
  const context = taskContext(given, { past: () => Promise.resolve(past) });
  if (prices) await outfit.models.loadPrices();
  const deck = deckOfJob(job, given, { cwd: setup.cwd, redact: redactor.text });
  const served = holds ? outfit.models.forRun(holds) : outfit.models;
  const { perform, world } = await openTaskWork(outfit, {
    setup,
    run: call.run,
    job,
    code: { tools: new Set(), models: new Set() },
    remotes: remoteAgents({ ...setup, home: setup.home === false ? undefined : homeOf(setup) }),
    roster: { find: () => agent, names: () => [agent.name], catalog: () => catalog },
    models: deck?.models(served) ?? served,
    earlier: openPreviousRuns(past, { store }),
    deck,
    linger: lingering.add,
  });
  try {
    const outcome = await perform(call, context);
    if (outcome.changes?.patch) await store.share(call.run, attemptPath(call), "patch"); // stored for all machines, so that `subcrew apply` works on each of them
    return outcome;
  } finally {
    await Promise.all([lingering.gone(), world.peers?.end()]);
  }
}

async function isInside(roots: readonly string[], folder: string): Promise<boolean> {
  const real = (path: string): Promise<string> => realpath(path).catch(() => path);
  const [wanted, ...served] = await Promise.all([folder, ...roots].map(real));
  return served.some((root) => folderContains(root, wanted!));
}
