import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { RunOutputs } from "../../core/run/run-store.ts";
import { movedInto } from "../../core/plan/isolation.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import type { WorkspaceSnapshot } from "../../core/task/workspace-snapshot.ts";
import { defined } from "../../core/text/defined.ts";
import { artifactOf } from "../../runtime/disk/artifact-of.ts";
import { readRegularFile } from "../../runtime/disk/regular-file.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { keepRepositories } from "../../runtime/git/keep-repositories.ts";
import { MOST_BYTES, MOST_HAVES, packed, unpacked } from "../../runtime/git/shared-workspace.ts";
import {
  applyPatch,
  capture,
  openOrigin,
  openWorktreeAt,
  type OpenWorktree,
  removeWorktree,
  type SourceTree,
} from "../../runtime/git/worktree.ts";
import { attemptPath, ignoredText } from "../../runtime/git/worktree-task.ts";
import { type HandedFiles, shareWithHelpers } from "./share-with-helpers.ts";
import { parseJson } from "../../core/text/json.ts";

export type FetchParts = Readonly<{
  /** The clone of the repository on this machine. */
  clone: string;
  /** The folder in which copies of workspaces are made. */
  folder: string;
  home: string | undefined;
  store: Pick<RunOutputs, "keep" | "output">;
}>;

/**
 * The starting point of a task and its changes since then, for a worker that continues it. `taken`: how many changes of
 * subagents it includes.
 */
type Progress = Readonly<{
  snapshot: WorkspaceSnapshot;
  dirty?: string;
  patch: string;
  taken?: number;
  above?: string;
}>;

/**
 * Runs a task in a copy of its workspace: the run's commit and its uncommitted changes. Its changes are stored before
 * each tool result is recorded, so that another worker can continue. The run applies them when the task has ended.
 */
export async function inFetchedWorkspace(
  job: Job,
  context: PerformContext,
  { clone, folder, home, store }: FetchParts,
  work: (job: Job, context: PerformContext, cwd: string) => Promise<Outcome>,
): Promise<Outcome> {
  const { call } = job;
  const cannot = (why: string): Outcome =>
    failed("UNSUPPORTED", `The workspace of "${call.path}" cannot be fetched: ${why}.`, { retryable: true });
  const origin = await openOrigin(clone, undefined, home);
  if ("unable" in origin) return cannot(origin.unable);
  const kept = await store.output(call.run, attemptPath(call), "progress");
  const before = kept === undefined ? undefined : (parseJson(kept) as Progress);
  const begun = before ?? (await fetched(call, context, { origin, store }));
  if ("unable" in begun) return cannot(begun.unable);
  const place = join(
    folder,
    createHash("sha256").update(`${call.run}/${call.path}#${call.attempt}`).digest("hex").slice(0, 16),
  );
  const files = await mkdtemp(join(tmpdir(), "subcrew-fetch-"));
  try {
    const tree = await copyOf(begun, { origin, place, files });
    if ("unable" in tree) return cannot(tree.unable);
    const cwd = join(tree.folder, ...begun.snapshot.prefix.split("/"));
    const keeper = progressKeeper(call, { tree, begun, files, store, cwd });
    const from = [job.workspace.id, ...(begun.above === undefined ? [] : [begun.above])];
    const outcome = await work({ ...job, call: movedCall(call, from, cwd) }, keeper.around(context), cwd);
    const changes = await keeper.save();
    if ("unable" in changes) return cannot(changes.unable);
    const { ignored, repositories } = changes;
    const inner = { of: call.path, paths: repositories, worktree: tree.folder, patch: `${place}.patch` };
    const texts = await keepRepositories({ ...inner, workspace: job.workspace.id, host: hostname() });
    for (const text of [...ignoredText(call, ignored), ...texts])
      context.emit({ type: "warning", code: "CHANGES_LEFT", text });
    if (changes.files.length === 0) return outcome;
    const { files: changed, patch } = changes;
    return { ...outcome, changes: { files: changed, applied: false, patch: artifactOf(patch), returned: true } };
  } finally {
    await removeWorktree(place);
    await rm(files, { recursive: true, force: true });
  }
}

/** The snapshot of the run's workspace, once its commits are on this machine. */
async function fetched(
  call: Call,
  context: PerformContext,
  { origin, store }: Readonly<{ origin: SourceTree; store: FetchParts["store"] }>,
): Promise<Progress | Readonly<{ unable: string }>> {
  const { repository, tree } = origin;
  const textOf = (kind: "dirty" | "bundle"): Promise<string | undefined> =>
    store.output(call.run, attemptPath(call), kind);
  const handed = call.filesOf === undefined ? undefined : await store.output(call.run, call.filesOf, "files");
  const files = handed === undefined ? undefined : (parseJson(handed) as HandedFiles);
  let snapshot = files?.snapshot ??
    (await context.workspace?.()) ?? { unable: "the run does not send its workspace to workers" };
  if ("unable" in snapshot) return snapshot;
  if (!(await repository.work(["cat-file", "-e", `${snapshot.commit}^{commit}`], tree)).ok) {
    const refs = await repository.work(["for-each-ref", `--count=${MOST_HAVES}`, "--format=%(objectname)"], tree);
    const sent = (await context.workspace?.(refs.ok ? refs.text.split("\n").filter(Boolean) : [])) ?? snapshot;
    if ("unable" in sent) return sent;
    if (!files) snapshot = sent;
    const bundle = await textOf("bundle");
    if (bundle === undefined) return { unable: "the run sent no commits" };
    const folder = await mkdtemp(join(tmpdir(), "subcrew-bundle-"));
    try {
      await writeFile(join(folder, "commits"), unpacked(bundle));
      const added = await repository.work(["bundle", "unbundle", join(folder, "commits")], tree);
      if (!added.ok) return { unable: added.reason };
      if (!(await repository.work(["cat-file", "-e", `${snapshot.commit}^{commit}`], tree)).ok)
        return { unable: `the run no longer has the commit ${snapshot.commit}` };
      await repository.work(["update-ref", `refs/subcrew/${snapshot.commit}`, snapshot.commit], tree);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  if (files) return { snapshot, ...defined({ dirty: files.dirty }), patch: "", above: files.at };
  const dirty = snapshot.dirty ? await textOf("dirty") : undefined;
  return { snapshot, ...defined({ dirty }), patch: "" };
}

async function copyOf(
  { snapshot, dirty, patch }: Progress,
  { origin, place, files }: Readonly<{ origin: SourceTree; place: string; files: string }>,
): Promise<OpenWorktree | Readonly<{ unable: string }>> {
  await removeWorktree(place); // left behind by a worker that was killed
  const file = join(files, "dirty.patch");
  if (dirty !== undefined) await writeFile(file, unpacked(dirty));
  const tree = await openWorktreeAt(place, origin, {
    commit: snapshot.commit,
    ...(dirty !== undefined && { dirty: file }),
  });
  if ("unable" in tree || patch === "") return tree;
  const more = join(files, "before.patch");
  await writeFile(more, unpacked(patch));
  const done = await applyPatch(more, { ...origin, tree: { folder: tree.folder, gitDir: tree.gitDir } }, []);
  return typeof done === "object" ? { unable: done.reason } : tree;
}

type Saved =
  | Readonly<{
      files: readonly string[];
      patch: string;
      ignored: readonly string[];
      repositories: readonly string[];
    }>
  | Readonly<{ unable: string }>;

/** Stores the changes of a task before the events that depend on them are recorded. */
function progressKeeper(
  call: Call,
  {
    tree,
    begun,
    files,
    store,
    cwd,
  }: Readonly<{ tree: OpenWorktree; begun: Progress; files: string; store: FetchParts["store"]; cwd: string }>,
): Readonly<{ around(context: PerformContext): PerformContext; save(): Promise<Saved> }> {
  let last = begun.patch;
  let turn: Promise<unknown> = Promise.resolve();
  const { commit, prefix } = begun.snapshot;
  const sharing = shareWithHelpers({
    call,
    store,
    ...defined({ taken: begun.taken }),
    inTurn: (work) => inTurn(work),
    // An isolated task works in a worktree of the copied workspace, which exists only on this machine.
    treeOf: async ({ worktree }) => ({
      origin: { ...tree.origin, tree: worktree ? { folder: worktree.top, gitDir: worktree.gitDir } : tree },
      commit,
      prefix,
      at: worktree ? movedInto(worktree, cwd) : cwd,
      isReachable: false,
    }),
  });
  const save = async (): Promise<Saved> => {
    const file = join(files, "now.patch");
    const captured = await capture(tree, file);
    if ("unable" in captured) return captured;
    const bytes = captured.changes.length === 0 ? Buffer.alloc(0) : await readRegularFile(file, MOST_BYTES);
    const patch = bytes.length === 0 ? "" : packed(bytes);
    if (patch !== last)
      await store.keep(
        call.run,
        attemptPath(call),
        JSON.stringify({ ...begun, patch, taken: sharing.taken() }),
        "progress",
      );
    last = patch;
    const { changes, ignored, repositories } = captured;
    return { files: changes.map(({ path }) => path), patch, ignored, repositories };
  };
  const inTurn = <T>(work: () => Promise<T> | T): Promise<T> => {
    const mine = turn.then(work, work);
    turn = mine.catch(() => {});
    return mine;
  };
  return {
    save: async () => {
      await sharing.takeIn();
      return inTurn(save);
    },
    around: (given) => {
      const context = sharing.around(given);
      return {
        ...context,
        emit: (fact) => {
          if (fact.type === "tool.ended") void inTurn(save).catch(() => {});
          void inTurn(() => context.emit(fact));
        },
        durable: () => inTurn(() => context.durable()),
        delegate: async (...asked) => {
          await inTurn(save);
          return context.delegate(...asked);
        },
        budget: {
          ...context.budget,
          reserve: async (...asked) => {
            await turn;
            return context.budget.reserve(...asked);
          },
        },
      };
    },
  };
}

/** The task with its paths changed to this machine: the copy of the workspace replaces the worktree. */
function movedCall({ worktree: _worktree, ...call }: Call, folders: readonly string[], to: string): Call {
  const { cwd } = call.task;
  const from = cwd !== undefined && isAbsolute(cwd) ? folders.find((folder) => folderContains(folder, cwd)) : undefined;
  if (cwd === undefined || from === undefined) return call;
  return { ...call, task: { ...call.task, cwd: join(to, relative(from, cwd).split(sep).join("/")) } };
}
