import { mkdtemp, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { taskContext } from "../../core/task/task-context.ts";
import type { Job } from "../../core/task/job.ts";
import type { Announcement } from "../../core/task/placement.ts";
import { type CrewSetup, homeOf } from "../outfit/setup.ts";
import { type Outfit, createOutfit } from "../outfit/outfit.ts";
import type { SharedEngine } from "../outfit/open-runs.ts";
import { workspaceOf } from "../../runtime/files/workspace-of.ts";
import { topOf } from "../../runtime/git/git.ts";
import { ownClone } from "../../runtime/git/own-clone.ts";
import { repositoryNames } from "../../runtime/git/shared-workspace.ts";
import type { ServedPlaces } from "./announcement.ts";
import { inFetchedWorkspace } from "./fetch-workspace.ts";
import { runnerFor, withNamedServers } from "./jobs-for-workers.ts";
import { performJob } from "./perform-job.ts";
import { shareWorktree } from "./share-worktree.ts";

/** Executes jobs with the keys, tools and permissions of this machine; the job's permissions can only restrict them. */
export function jobPerformer(
  setup: CrewSetup,
  places: ServedPlaces & Pick<Announcement, "runners">,
  shared: SharedEngine = {},
): (job: Job, context: PerformContext) => Promise<Outcome> {
  const { folders } = places;
  const outfits = new Map<string, Outfit>();
  const outfitFor = (cwd: string): Outfit => {
    const known = outfits.get(cwd) ?? createOutfit({ ...setup, cwd }, shared);
    outfits.set(cwd, known);
    return known;
  };
  const folderOf = async ({ workspace: { id, host, repositories = [] } }: Job): Promise<string | undefined> => {
    const isElsewhere = host !== undefined && host !== hostname() && !places.shared && repositories.length > 0;
    const served = isElsewhere ? [] : await Promise.all(places.folders.map(workspaceOf));
    return served.find((one) => one.id === id)?.id;
  };
  const state = join(homeOf(setup), "engine");
  const home = setup.env["HOME"];
  const cloneOf = async ({ workspace: { repositories: wanted = [] } }: Job): Promise<string | undefined> => {
    if (wanted.length === 0) return undefined;
    for (const folder of places.folders) {
      const names = await repositoryNames(folder, home);
      if (names.some((name) => wanted.includes(name))) return topOf(folder);
    }
    if (!places.fetch || !/^[0-9a-f]+$/.test(wanted[0]!)) return undefined;
    return ownClone(join(state, "repositories", wanted[0]!), home);
  };
  return async (given, context) => {
    const refused = refusalOf(given, places.runners);
    if (refused !== undefined) return failed("DENIED", refused);
    const job = { ...given, agent: withNamedServers(given.agent) };
    // The parent task works in a copy or a worktree: unless that worktree is on this machine, this task gets its own
    // copy.
    const isCopied = job.call.filesOf !== undefined && !(await isFolder(job.call.worktree?.top));
    const folder = isCopied ? undefined : await folderOf(job);
    if (folder !== undefined) {
      const outfit = outfitFor(folder);
      const sharing = shareWorktree(job.call, { home, store: outfit.store, cwd: folder });
      return performJob(job, taskContext(context, { sharing: sharing.layer }), {
        setup: { ...setup, cwd: folder },
        outfit,
        folders,
      });
    }
    const clone = await cloneOf(job);
    if (clone !== undefined) {
      const { store } = outfitFor(setup.cwd);
      const fetching = { clone, folder: join(state, "workspaces"), home, store };
      return inFetchedWorkspace(job, context, fetching, (moved, inner, cwd) => {
        const own = { ...setup, cwd };
        return performJob(moved, inner, { setup: own, outfit: createOutfit(own), folders });
      });
    }
    // A row of the database cannot name a folder that this worker does not offer.
    if (!places.scratch || isCopied)
      return failed("DENIED", `This worker does not serve the workspace ${job.workspace.id}.`);
    const scratch = await mkdtemp(join(tmpdir(), "subcrew-scratch-"));
    try {
      const own = { ...setup, cwd: scratch };
      return await performJob(job, context, { setup: own, outfit: createOutfit(own, shared), folders });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  };
}

const isFolder = (path: string | undefined): Promise<boolean> =>
  path === undefined
    ? Promise.resolve(false)
    : stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      );

/**
 * Why a job is refused, regardless of the needs that the job states: a runner can be a command, so only runners that
 * this worker announces are accepted.
 */
function refusalOf({ call: { task }, agent }: Job, runners: readonly string[]): string | undefined {
  const runner = runnerFor(task, agent);
  return runners.includes(runner) ? undefined : `This worker does not start the runner "${runner}".`;
}
