import type { Agent } from "../agent/agent.ts";

/** Where the edits of a task go: into a worktree of its own, or right where everybody works. */
export const isolationKinds = ["worktree", "off"] as const;

/** How a task is kept apart: what its worktree starts with, and what becomes of its changes. */
export type Isolation = Readonly<{
  /** What is not committed yet is in it, too. */
  dirty: boolean;
  /** Its changes stay a patch, also when they could be applied. */
  keep: boolean;
}>;

/** A worktree that stands for the folders of a repository: what is called `of/x` anywhere is `top/x` for the task. */
export type Worktree = Readonly<{
  top: string;
  of: string;
  /** Where git keeps what belongs to it; never read from the worktree, which the task can write. */
  gitDir: string;
}>;

/** What a task says about it. */
type IsolationWish = Readonly<{
  isolation?: (typeof isolationKinds)[number] | undefined;
  isolationDirty?: boolean | undefined;
  isolationKeep?: boolean | undefined;
}>;

/**
 * Whether a task gets a worktree of its own. A person's task beats the agent; one that an agent gave can ask for it, and not
 * get out of it.
 */
export function chooseIsolation(
  { isolation, isolationDirty = false, isolationKeep = false }: IsolationWish,
  agent: Pick<Agent, "isolation"> | undefined,
  depth: number,
): Isolation | undefined {
  const wished = depth === 0 ? (isolation ?? agent?.isolation) : [isolation, agent?.isolation].find(isWorktree);
  return isWorktree(wished) ? { dirty: isolationDirty, keep: isolationKeep } : undefined;
}

const isWorktree = (wish: string | undefined): wish is "worktree" => wish === "worktree";

/** Where a path of the repository is for a task in a worktree; other paths stay as they are. */
export function movedInto({ top, of }: Pick<Worktree, "top" | "of">, path: string): string {
  if (path === of) return top;
  return path.startsWith(`${of}/`) ? `${top}${path.slice(of.length)}` : path;
}
