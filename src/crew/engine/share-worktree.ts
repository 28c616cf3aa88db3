import { relative, sep } from "node:path";
import { movedInto } from "../../core/plan/isolation.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { Call } from "../../core/task/engine.ts";
import { openOrigin } from "../../runtime/git/worktree.ts";
import { type HelperSharing, shareWithHelpers } from "./share-with-helpers.ts";

/** Subagents of an isolated task work in its worktree if they can reach it. On other machines they work in a copy. */
export function shareWorktree(
  call: Call,
  { home, store, cwd }: Readonly<{ home: string | undefined; store: RunStore; cwd: string }>,
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
