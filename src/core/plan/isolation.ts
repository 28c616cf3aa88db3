import type { Agent } from "../agent/agent.ts";

/** Where a task edits files: in a separate worktree, or in the shared workspace. */
export const isolationKinds = ["worktree", "off"] as const;

/** Worktree options of a task. */
export type Isolation = Readonly<{
  /** The worktree includes uncommitted changes. */
  dirty: boolean;
  /** The changes are kept as a patch and not applied. */
  keep: boolean;
}>;

/** A worktree of a repository: the path `of/x` of the repository is `top/x` for the task. */
export type Worktree = Readonly<{
  top: string;
  of: string;
  /** Its git folder; never read from the worktree, because the task can write there. */
  gitDir: string;
}>;

/** The worktree options of a task or an agent. */
type IsolationWish = Readonly<{
  isolation?: (typeof isolationKinds)[number] | undefined;
  isolationDirty?: boolean | undefined;
  isolationKeep?: boolean | undefined;
}>;

/**
 * Whether a task gets a separate worktree. A task of a person overrides the agent file; a delegated task can request
 * isolation but not remove it.
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

/** Maps a path of the repository to the task's worktree; other paths are unchanged. */
export function movedInto({ top, of }: Pick<Worktree, "top" | "of">, path: string): string {
  if (path === of) return top;
  return path.startsWith(`${of}/`) ? `${top}${path.slice(of.length)}` : path;
}
