import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import type { RunOutputs } from "../../core/run/run-store.ts";
import { attemptPath } from "../../core/plan/isolation.ts";
import type { Call, DelegationOutcome, Parent, PerformContext, ReturnedChanges } from "../../core/task/engine.ts";
import type { ContextLayer } from "../../core/task/task-context.ts";
import type { WorkspaceSnapshot } from "../../core/task/workspace-snapshot.ts";
import { defined } from "../../core/text/defined.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { readRegularFile } from "../../runtime/disk/regular-file.ts";
import { patchOfProgress } from "../../runtime/git/returned-changes.ts";
import { MOST_BYTES, packed } from "../../runtime/git/shared-workspace.ts";
import { applyPatch, capture, type SourceTree } from "../../runtime/git/worktree.ts";

/**
 * The files of a task as its subagents get them: a commit, and all changes since. `at`: the working folder of the task.
 */
export type HandedFiles = Readonly<{ snapshot: WorkspaceSnapshot; dirty?: string; at: string }>;

/** The worktree of a task that has subagents, and a commit that other machines have. */
export type HelperTree = Readonly<{
  origin: SourceTree;
  commit: string;
  prefix: string;
  /** The working folder of the task. */
  at: string;
  /** True: subagents on this machine can work in the worktree of the task itself. */
  isReachable: boolean;
}>;

export type SharingParts = Readonly<{
  call: Call;
  store: Pick<RunOutputs, "keep" | "output">;
  /** The worktree that a task shares with its subagents; `undefined`: the subagents can reach the files themselves. */
  treeOf(parent: Parent): Promise<HelperTree | undefined>;
  /** The subagents whose changes an earlier worker of this task has already applied. */
  taken?: readonly string[];
  /** Runs actions on the worktree one at a time. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}>;

/** A task whose subagents may work on other machines: they start with its files, and it applies their changes. */
export type HelperSharing = Readonly<{
  layer: ContextLayer;
  /** Applies the changes that subagents have returned so far. */
  takeIn(): Promise<void>;
  /** The subagents whose changes were applied to the worktree. */
  taken(): readonly string[];
}>;

export function shareWithHelpers({ call, store, treeOf, inTurn, ...given }: SharingParts): HelperSharing {
  const path = attemptPath(call);
  let tree: HelperTree | undefined;
  const taken = new Set(given.taken);
  let returned: PerformContext["returned"];
  let warn: PerformContext["emit"] = () => {};
  /** Changes that subagents returned and that could not be applied; the agent has not been told about them yet. */
  let conflicts: string[] = [];

  const handOver = async (parent: Parent): Promise<Parent | FailedOutcome> => {
    const found = await treeOf(parent);
    if (!found) return parent;
    tree = found;
    const files = await handedFiles(found);
    if ("unable" in files)
      return failed(
        "UNSUPPORTED",
        `The agents that "${path}" started cannot get the files of that task: ${files.unable}.`,
      );
    const { hash } = await store.keep(call.run, path, JSON.stringify(files), "files");
    const { worktree, ...others } = parent;
    return { ...others, ...(found.isReachable && defined({ worktree })), filesOf: hash };
  };
  const takeInNow = async (): Promise<void> => {
    if (!tree) return;
    for (const { path: helper, hash } of (await returned?.()) ?? []) {
      if (taken.has(helper)) continue;
      const why = await taking({ path: helper, hash }, tree, { run: call.run, store });
      taken.add(helper);
      if (why === undefined) continue;
      const text = `The changes of "${helper}" conflict with the files of "${call.path}", so none of them was applied: ${sanitize(why)}. Apply them with: subcrew apply ${call.run}/${helper}`;
      conflicts.push(text);
      warn({ type: "warning", code: "CHANGES_KEPT", text });
    }
  };
  const takeIn = (): Promise<void> => (tree ? inTurn(takeInNow) : Promise.resolve());
  const settled = async (outcome: DelegationOutcome): Promise<DelegationOutcome> => {
    await takeIn();
    const [first] = conflicts;
    conflicts = [];
    return first === undefined ? outcome : { ...outcome, ...failed("CONFLICT", first) };
  };
  return {
    takeIn,
    taken: () => [...taken],
    layer: (context) => {
      warn = context.emit;
      ({ returned } = context);
      const { background, budget } = context;
      return {
        delegate: async (what, parent, stop) => {
          const handed = await inTurn(() => handOver(parent));
          return "status" in handed ? handed : settled(await context.delegate(what, handed, stop));
        },
        ...(background && {
          background: {
            ...background,
            start: async (what, parent, tells) => {
              const handed = await inTurn(() => handOver(parent));
              return "status" in handed ? handed : background.start(what, handed, tells);
            },
            ended: async (key, signal) => {
              const outcome = await background.ended(key, signal);
              return outcome && settled(outcome);
            },
          },
        }),
        mail: async (wait) => {
          const messages = await context.mail(wait);
          if (messages.length > 0) await takeIn(); // one of the messages may say that a subagent has ended
          return messages;
        },
        budget: {
          ...budget,
          reserve: async (...asked) => {
            await takeIn();
            return budget.reserve(...asked);
          },
        },
      };
    },
  };
}

async function handedFiles({
  origin,
  commit,
  prefix,
  at,
}: HelperTree): Promise<HandedFiles | Readonly<{ unable: string }>> {
  const { folder, gitDir = "" } = origin.tree;
  const files = await mkdtemp(join(tmpdir(), "subcrew-files-"));
  try {
    const patch = join(files, "all.patch");
    const captured = await capture({ folder, gitDir, base: commit, origin }, patch);
    if ("unable" in captured) return captured;
    const dirty = captured.changes.length > 0;
    const text = dirty ? packed(await readRegularFile(patch, MOST_BYTES)) : undefined;
    const snapshot = { commit, prefix };
    return { snapshot, at, ...(text !== undefined && { dirty: text }) };
  } finally {
    await rm(files, { recursive: true, force: true });
  }
}

/** Applies the changes of a subagent. Returns why that is not possible, or `undefined`. */
async function taking(
  { path, hash }: ReturnedChanges,
  { origin }: HelperTree,
  { run, store }: Readonly<{ run: string; store: Pick<RunOutputs, "output"> }>,
): Promise<string | undefined> {
  const bytes = patchOfProgress(await store.output(run, path, { kind: "progress", hash }));
  if (!bytes) return "the store has no patch";
  const files = await mkdtemp(join(tmpdir(), "subcrew-files-"));
  try {
    const patch = join(files, "returned.patch");
    await writeFile(patch, bytes, { mode: 0o600 });
    const done = await applyPatch(patch, origin, []);
    return typeof done === "object" ? done.reason : undefined;
  } finally {
    await rm(files, { recursive: true, force: true });
  }
}
