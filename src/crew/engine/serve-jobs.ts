import { mkdtemp, realpath, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { delimiter, join, relative, resolve, sep } from "node:path";
import { emptyCatalog } from "../../core/delegation/catalog.ts";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import { attemptPath, movedInto } from "../../core/plan/isolation.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import type { Announcement } from "../../core/task/placement.ts";
import { defined } from "../../core/text/defined.ts";
import { foreignTools, ownRunners } from "../../core/vocabulary/runner-name.ts";
import { builtinRunner, remoteAgents } from "../../defaults.ts";
import { overviewOf } from "../../models/registry/overview.ts";
import { modelsOfTiers } from "../../models/registry/registry.ts";
import { type CrewSetup, createOutfit, homeOf, type Outfit, type SharedEngine } from "../../outfit.ts";
import { createPendingCleanup } from "../../runtime/async/pending-cleanup.ts";
import type { Sameness } from "../../runtime/cassette/cassette.ts";
import type { Deck } from "../../runtime/cassette/deck.ts";
import { recordingOn } from "../../runtime/cassette/record.ts";
import { replayingFrom } from "../../runtime/cassette/replay.ts";
import { remoteTape } from "../../runtime/cassette/tape.ts";
import { recorderFor } from "../../runtime/changes/recorder.ts";
import { isProgram } from "../../runtime/disk/is-program.ts";
import { workspaceOf } from "../../runtime/files/workspace-of.ts";
import { topOf } from "../../runtime/git/git.ts";
import { ownClone } from "../../runtime/git/own-clone.ts";
import { repositoryNames } from "../../runtime/git/shared-workspace.ts";
import { openOrigin } from "../../runtime/git/worktree.ts";
import { createIsolate } from "../../runtime/git/worktree-task.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { inFetchedWorkspace } from "./fetch-workspace.ts";
import { type HelperSharing, shareWithHelpers } from "./share-with-helpers.ts";
import { withNamedServers } from "./jobs-for-workers.ts";
import { openPreviousRuns } from "../../runtime/resume/previous-runs.ts";
import { createReuse } from "../../runtime/resume/reuse-results.ts";
import { loop } from "../../runtime/loop/loop.ts";
import { createPerformer } from "../../runtime/task/perform.ts";

/** The folders whose tasks a worker accepts, and whether it creates empty folders for other tasks. */
export type ServedPlaces = Readonly<{
  folders: readonly string[];
  scratch: boolean;
  /** True: the worker fetches repositories that it has no clone of. */
  fetch: boolean;
  /** True: the worker's folders are shared with other machines, such as on a network drive. */
  shared: boolean;
  slots: number;
  protocols: readonly number[];
}>;

/** The capabilities of this machine, by name; keys and programs are not sent. */
export async function announcementOf(setup: CrewSetup, places: ServedPlaces): Promise<Announcement> {
  const outfit = createOutfit(setup);
  const { models } = outfit;
  const nobody = { find: () => undefined, names: () => [] };
  const [world, access] = await Promise.all([outfit.worldFor(nobody, loop), outfit.access()]);
  await world.peers?.end();
  const path = (setup.env["PATH"] ?? "").split(delimiter);
  const { candidates, lastResort } = models.look([], "call");
  const folders = await Promise.all(places.folders.map(workspaceOf));
  return {
    protocols: places.protocols,
    platform: process.platform,
    runners: [
      ...ownRunners,
      "a2a",
      ...foreignTools.filter((name) => path.some((folder) => isProgram(join(folder, name)))),
    ],
    providers: overviewOf(models).providers.flatMap(({ name, usable }) => (usable ? [name] : [])),
    models: [...new Set([setup.model ?? [], Object.values(modelsOfTiers(setup))].flat(2))].toSorted(byText),
    hasDefaultModel: candidates.length > 0 && lastResort !== true,
    tools: [...world.tools.keys()].toSorted(),
    servers: Object.keys(setup.mcpServers ?? {}).toSorted(),
    workspaces: [...folders.map(({ id }) => id), ...(places.scratch ? ["*"] : [])],
    repositories: [
      ...new Set(
        (await Promise.all(places.folders.map((folder) => repositoryNames(folder, setup.env["HOME"])))).flat(),
      ),
      ...(places.fetch ? ["*"] : []),
    ],
    sandbox: (await access.sandbox()).level,
    slots: places.slots,
  };
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

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
      const sharing = sharingOfWorktrees(job.call, { home, store: outfit.store, cwd: folder });
      return perform(job, sharing.around(context), { setup: { ...setup, cwd: folder }, outfit, folders });
    }
    const clone = await cloneOf(job);
    if (clone !== undefined) {
      const { store } = outfitFor(setup.cwd);
      const fetching = { clone, folder: join(state, "workspaces"), home, store };
      return inFetchedWorkspace(job, context, fetching, (moved, inner, cwd) => {
        const own = { ...setup, cwd };
        return perform(moved, inner, { setup: own, outfit: createOutfit(own), folders });
      });
    }
    // A row of the database cannot name a folder that this worker does not offer.
    if (!places.scratch || isCopied)
      return failed("DENIED", `This worker does not serve the workspace ${job.workspace.id}.`);
    const scratch = await mkdtemp(join(tmpdir(), "subcrew-scratch-"));
    try {
      const own = { ...setup, cwd: scratch };
      return await perform(job, context, { setup: own, outfit: createOutfit(own, shared), folders });
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

/** Subagents of an isolated task work in its worktree if they can reach it. On other machines they work in a copy. */
function sharingOfWorktrees(
  call: Call,
  { home, store, cwd }: Readonly<{ home: string | undefined; store: Outfit["store"]; cwd: string }>,
): HelperSharing {
  let turn: Promise<unknown> = Promise.resolve();
  return shareWithHelpers({
    call,
    store,
    inTurn: (work) => {
      const mine = turn.then(work, work);
      turn = mine.catch(() => {});
      return mine;
    },
    treeOf: async ({ worktree }) => {
      if (!worktree) return undefined;
      const origin = await openOrigin(worktree.of, { folder: worktree.top, gitDir: worktree.gitDir }, home);
      if ("unable" in origin) return undefined;
      const head = await origin.repository.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}");
      if (!head.ok) return undefined;
      const prefix = relative(worktree.of, cwd).split(sep).join("/");
      return { origin, commit: head.text.trim(), prefix, at: movedInto(worktree, cwd), isReachable: true };
    },
  });
}

/**
 * Why a job is refused, regardless of the needs that the job states: a runner can be a command, so only runners that
 * this worker announces are accepted.
 */
function refusalOf({ call: { task }, agent }: Job, runners: readonly string[]): string | undefined {
  const runner = agent.remote ? "a2a" : (task.runner ?? agent.runner ?? "local");
  return runners.includes(runner) ? undefined : `This worker does not start the runner "${runner}".`;
}

async function perform(
  job: Job,
  given: PerformContext,
  { setup, outfit, folders }: Readonly<{ setup: CrewSetup; outfit: Outfit; folders: readonly string[] }>,
): Promise<Outcome> {
  const { call, agent, catalog = emptyCatalog, holds, permissions, projectInstructions, prices } = job;
  const { store, redactor, clock } = outfit;
  if (!(await isInside([setup.cwd, ...folders], resolve(setup.cwd, call.task.cwd ?? "."))))
    return failed("DENIED", `This worker does not serve the folder ${call.task.cwd}.`);
  // A subagent works in the worktree of its parent. That must be one that a worker with this home folder created: a row
  // of the database cannot name another folder.
  const worktrees = store.local(call.run, "worktrees");
  if (call.worktree && !(worktrees !== undefined && folderContains(worktrees, call.worktree.top)))
    return failed("DENIED", `This worker does not have the worktree ${call.worktree.top}.`);
  const lingering = createPendingCleanup();
  const past = await given.past();
  const context: PerformContext = { ...given, past: () => Promise.resolve(past) };
  if (prices) await outfit.models.loadPrices();
  const { workspace, providers } = job;
  const runner = builtinRunner({
    setup,
    job: { workspace, prices, ...defined({ holds, permissions, providers, projectInstructions }) },
    code: { tools: new Set(), models: new Set() },
    linger: lingering.add,
    remotes: remoteAgents({ ...setup, home: setup.home === false ? undefined : homeOf(setup) }),
  });
  const roster = { find: () => agent, names: () => [agent.name], catalog: () => catalog };
  const deck = deckOf(job, given, { cwd: setup.cwd, redact: redactor.text });
  const world = await outfit.worldFor(roster, deck?.runner(runner) ?? runner, permissions);
  const served = holds ? outfit.models.forRun(holds) : outfit.models;
  const recorder = recorderFor(store, call.run, setup.env["HOME"]);
  const isolate = createIsolate({
    cwd: setup.cwd,
    home: setup.env["HOME"],
    worktrees,
    patch: (path) => store.file(call.run, path, { kind: "patch" }),
    ...defined({ recorder }),
    linger: lingering.add,
  });
  const reuse = createReuse(store, { always: job.reuse ?? false, redact: redactor.text, clock });
  try {
    const outcome = await createPerformer({
      ...world,
      ...(projectInstructions === false && { instructions: () => ({ text: "", notes: [] }) }),
      models: deck?.models(served) ?? served,
      ...defined({ peers: world.peers && (deck?.peers(world.peers) ?? world.peers), acceptance: deck?.acceptance }),
      earlier: openPreviousRuns(past, { store }),
      isolate,
      linger: lingering.add,
      reuse,
    })(call, context);
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

/** Access to the run's recording (cassette), which is on the machine that coordinates the run. */
function deckOf(
  { tape, workspace }: Job,
  { tape: ask }: PerformContext,
  same: Sameness,
): Pick<Deck, "models" | "runner" | "peers" | "acceptance"> | undefined {
  if (tape === undefined || !ask) return undefined;
  const places = { from: workspace.id, to: same.cwd };
  const { records, replays } = remoteTape(ask, places);
  return tape === "records" ? recordingOn(records, same) : replayingFrom(replays, same);
}
