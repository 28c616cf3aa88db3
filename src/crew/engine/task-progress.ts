import { join } from "node:path";
import type { Artifact } from "../../core/outcome/artifact.ts";
import { attemptPath, movedInto } from "../../core/plan/isolation.ts";
import type { Fact, KeptEvent } from "../../core/run/event.ts";
import type { RunOutputs } from "../../core/run/run-store.ts";
import type { Call } from "../../core/task/engine.ts";
import type { ContextParts } from "../../core/task/task-context.ts";
import type { WorkspaceSnapshot } from "../../core/task/workspace-snapshot.ts";
import { defined } from "../../core/text/defined.ts";
import { parseJson } from "../../core/text/json.ts";
import { readRegularFile } from "../../runtime/disk/regular-file.ts";
import { MOST_BYTES, packed } from "../../runtime/git/shared-workspace.ts";
import { capture, type OpenWorktree } from "../../runtime/git/worktree.ts";
import { shareWithHelpers } from "./share-with-helpers.ts";

/**
 * The starting point of a task and its changes since then, for a worker that continues it. `taken`: the subagents whose changes
 * it includes.
 */
export type CopyProgress = Readonly<{
  snapshot: WorkspaceSnapshot;
  dirty?: string;
  patch: string;
  taken?: readonly string[];
  above?: string;
}>;

type ProgressStore = Pick<RunOutputs, "keep" | "output">;

/** The progress of the earlier worker of a task: the last that an event of the task names by its hash. */
export async function earlierProgress(
  past: readonly KeptEvent[],
  call: Call,
  store: ProgressStore,
): Promise<CopyProgress | undefined> {
  const last = past.findLast((event) => event.type === "tool.ended" && event.progress !== undefined);
  const hash = last?.type === "tool.ended" ? last.progress : undefined;
  if (hash === undefined) return undefined;
  const text = await store.output(call.run, attemptPath(call), { kind: "progress", hash });
  return text === undefined ? undefined : (parseJson(text) as CopyProgress);
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
export function progressKeeper(
  call: Call,
  {
    tree,
    begun,
    files,
    store,
    cwd,
  }: Readonly<{ tree: OpenWorktree; begun: CopyProgress; files: string; store: ProgressStore; cwd: string }>,
): Readonly<{ layers: Pick<ContextParts, "copy" | "sharing">; save(): Promise<Saved> }> {
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
    layers: {
      sharing: sharing.layer,
      copy: ({ emit, durable, delegate, budget }) => ({
        emit: (fact) => {
          void inTurn(async () => emit(await withProgress(fact)));
        },
        durable: () => inTurn(() => durable()),
        delegate: async (...asked) => {
          await inTurn(save);
          return delegate(...asked);
        },
        budget: {
          ...budget,
          reserve: async (...asked) => {
            await turn;
            return budget.reserve(...asked);
          },
        },
      }),
    },
  };
}
