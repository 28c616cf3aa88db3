import type { Agent } from "../agent/agent.ts";

/** Where a task edits files: in a separate worktree, or in the shared workspace. */
export const isolationKinds = ["worktree", "off"] as const;

/** How a task is isolated in a git worktree of its own. */
export type Isolation = Readonly<{
  /** True: the worktree also contains the repository's uncommitted changes. */
  dirty: boolean;
  /** True: the task's changes are kept as a patch and not applied to the workspace. */
  keep: boolean;
}>;

/**
 * A worktree in which a task works instead of the repository: the path `of/x` of the repository is `top/x` for the
 * task.
 */
export type Worktree = Readonly<{
  top: string;
  of: string;
  /** The git folder of the worktree. It is never read from the worktree itself, because the task can write there. */
  gitDir: string;
}>;

/** The worktree options that a task or an agent asks for. */
type IsolationWish = Readonly<{
  isolation?: (typeof isolationKinds)[number] | undefined;
  isolationDirty?: boolean | undefined;
  isolationKeep?: boolean | undefined;
}>;

/**
 * Whether a task gets a separate worktree. A task that a person started overrides the agent file; a delegated task can
 * request isolation but not remove it.
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

/** The path at which the patch of an attempt is kept. Each attempt has its own path. */
export const attemptPath = ({ path, attempt }: Readonly<{ path: string; attempt: number }>): string =>
  attempt > 1 ? `${path}.${attempt}` : path;
