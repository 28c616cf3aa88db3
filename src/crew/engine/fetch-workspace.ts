import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { RunOutputs } from "../../core/run/run-store.ts";
import { attemptPath } from "../../core/plan/isolation.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { taskContext } from "../../core/task/task-context.ts";
import type { Job } from "../../core/task/job.ts";
import { defined } from "../../core/text/defined.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { keepRepositories } from "../../runtime/git/keep-repositories.ts";
import { MOST_HAVES, unpacked } from "../../runtime/git/shared-workspace.ts";
import {
  applyPatch,
  openOrigin,
  openWorktreeAt,
  type OpenWorktree,
  removeWorktree,
  type SourceTree,
} from "../../runtime/git/worktree.ts";
import { ignoredText } from "../../runtime/git/worktree-task.ts";
import type { HandedFiles } from "./share-with-helpers.ts";
import { type CopyProgress, progressKeeper, earlierProgress } from "./task-progress.ts";
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
  const before = await earlierProgress(await context.past(), call, store);
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
    const outcome = await work({ ...job, call: movedCall(call, from, cwd) }, taskContext(context, keeper.layers), cwd);
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

/** The snapshot of the run's workspace, once its commits are on this machine. */
async function fetched(
  call: Call,
  context: PerformContext,
  { origin, store }: Readonly<{ origin: SourceTree; store: FetchParts["store"] }>,
): Promise<CopyProgress | Readonly<{ unable: string }>> {
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
  { snapshot, dirty, patch }: CopyProgress,
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

/** The task with its paths changed to this machine: the copy of the workspace replaces the worktree. */
function movedCall({ worktree: _worktree, ...call }: Call, folders: readonly string[], to: string): Call {
  const { cwd } = call.task;
  const from = cwd !== undefined && isAbsolute(cwd) ? folders.find((folder) => folderContains(folder, cwd)) : undefined;
  if (cwd === undefined || from === undefined) return call;
  return { ...call, task: { ...call.task, cwd: join(to, relative(from, cwd).split(sep).join("/")) } };
}
