import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { RunOutputs } from "../../core/run/run-store.ts";
import { attemptPath, movedInto } from "../../core/plan/isolation.ts";
import type { Fact, KeptEvent } from "../../core/run/event.ts";
import type { Artifact } from "../../core/outcome/artifact.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import type { WorkspaceSnapshot } from "../../core/task/workspace-snapshot.ts";
import { defined } from "../../core/text/defined.ts";
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
import { ignoredText } from "../../runtime/git/worktree-task.ts";
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
 * The starting point of a task and its changes since then, for a worker that continues it. `taken`: the subagents whose changes
 * it includes.
 */
type Progress = Readonly<{
  snapshot: WorkspaceSnapshot;
  dirty?: string;
  patch: string;
  taken?: readonly string[];
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
  const before = await progressOf(await context.past(), call, store);
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
    return { ...outcome, changes: { files: changes.files, applied: false, patch: changes.kept, returned: true } };
  } finally {
    await removeWorktree(place);
    await rm(files, { recursive: true, force: true });
  }
}

/** The progress of the earlier worker of a task: the last that an event of the task names by its hash. */
async function progressOf(
  past: readonly KeptEvent[],
  call: Call,
  store: FetchParts["store"],
): Promise<Progress | undefined> {
  const last = past.findLast((event) => event.type === "tool.ended" && event.progress !== undefined);
  const hash = last?.type === "tool.ended" ? last.progress : undefined;
  if (hash === undefined) return undefined;
  const text = await store.output(call.run, attemptPath(call), { kind: "progress", hash });
  return text === undefined ? undefined : (parseJson(text) as Progress);
}

/** The snapshot of the run's workspace, once its commits are on this machine. */
async function fetched(
  call: Call,
  context: PerformContext,
  { origin, store }: Readonly<{ origin: SourceTree; store: FetchParts["store"] }>,
): Promise<Progress | Readonly<{ unable: string }>> {
  const { repository, tree } = origin;
  const textOf = async (kind: "dirty" | "bundle", hash: string | undefined): Promise<string | undefined> =>
    hash === undefined ? undefined : store.output(call.run, attemptPath(call), { kind, hash });
  const { filesOf } = call;
  const handed = filesOf && (await store.output(call.run, filesOf.task, { kind: "files", hash: filesOf.hash }));
  if (filesOf && handed === undefined) return { unable: `the store does not have the files of "${filesOf.task}"` };
  const files = handed === undefined ? undefined : (parseJson(handed) as HandedFiles);
  let snapshot = files?.snapshot ??
    (await context.workspace?.()) ?? { unable: "the run does not send its workspace to workers" };
  if ("unable" in snapshot) return snapshot;
  if (!(await repository.work(["cat-file", "-e", `${snapshot.commit}^{commit}`], tree)).ok) {
    const refs = await repository.work(["for-each-ref", `--count=${MOST_HAVES}`, "--format=%(objectname)"], tree);
    const sent = (await context.workspace?.(refs.ok ? refs.text.split("\n").filter(Boolean) : [])) ?? snapshot;
    if ("unable" in sent) return sent;
    if (!files) snapshot = sent;
    const bundle = await textOf("bundle", sent.bundle);
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
  const dirty = await textOf("dirty", snapshot.dirty);
  if (snapshot.dirty !== undefined && dirty === undefined)
    return { unable: "the store does not have the uncommitted changes of the workspace" };
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
      /** The stored progress. */
      kept: Artifact;
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
  let last: Readonly<{ patch: string; kept: Artifact; taken: number }> | undefined;
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
    const isSame = last?.patch === patch && last.taken === sharing.taken().length;
    const text = JSON.stringify({ ...begun, patch, taken: sharing.taken() });
    const kept = last && isSame ? last.kept : await store.keep(call.run, attemptPath(call), text, "progress");
    last = { patch, kept, taken: sharing.taken().length };
    const { changes, ignored, repositories } = captured;
    return { files: changes.map(({ path }) => path), kept, ignored, repositories };
  };
  /** The end of a tool call, with the hash of the progress that includes its changes. */
  const withProgress = async (fact: Fact): Promise<Fact> => {
    if (fact.type !== "tool.ended") return fact;
    const saved = await save().catch(() => undefined);
    return saved && "kept" in saved ? { ...fact, progress: saved.kept.hash } : fact;
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
          void inTurn(async () => context.emit(await withProgress(fact)));
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
