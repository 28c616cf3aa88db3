import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type FailedOutcome, failed, type Outcome } from "../../core/outcome/outcome.ts";
import { attemptPath, type Isolation, movedInto } from "../../core/plan/isolation.ts";
import type { Policy } from "../../core/policy/policy.ts";
import type { ChangeRecorder } from "../../core/task/change-recorder.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { pauseReason } from "../async/cancel.ts";
import { artifactOfFile } from "../disk/artifact-of.ts";
import { folderContains } from "../files/folder-contains.ts";
import { listNames, settleChanges } from "./apply-changes.ts";
import { topOf } from "./git.ts";
import { keepRepositories } from "./keep-repositories.ts";
import {
  applyPatch,
  capture,
  foundWorktree,
  keepWorktree,
  type OpenWorktree,
  openOrigin,
  openWorktree,
  removeWorktree,
  removeWorktrees,
  type SourceTree,
} from "./worktree.ts";

/** The outcome of a task, and its permission policy at its end. */
export type WorktreeOutcome = Readonly<{ outcome: Outcome; policy?: Policy }>;

/**
 * The parts of a task that opening and closing a worktree needs; `isBegun`: an earlier process opened the worktree;
 * `hasWorked`: a task has already worked in it.
 */
export type WorktreeContext = Pick<PerformContext, "ask" | "attended" | "claim" | "emit" | "signal"> &
  Readonly<{ isBegun: boolean; hasWorked: boolean }>;

/** Lets tasks of one run work in worktrees of their own. */
export type Isolate = Readonly<{
  run(
    call: Call,
    isolation: Isolation,
    context: WorktreeContext,
    work: (call: Call) => Promise<WorktreeOutcome>,
  ): Promise<Outcome>;
  /** Removes the worktrees of tasks that were not resumed; `before`: also worktrees that an earlier process created. */
  sweep(before: boolean): Promise<void>;
}>;

/**
 * The parameters for running tasks in worktrees: the folders of worktrees and patches, and a list of pending cleanups.
 */
export type IsolateParts = Readonly<{
  cwd: string;
  /** The user's home folder, for git settings. */
  home: string | undefined;
  /**
   * The folder of the run's worktrees; absent: nothing is stored, and changes that cannot be applied stay in a
   * temporary folder.
   */
  worktrees: string | undefined;
  /** The file for the patch of a task; `undefined`: the patch is stored beside the worktrees. */
  patch(path: string): Promise<string | undefined>;
  /** Stores the files of the workspace that are changed. */
  recorder?: ChangeRecorder;
  /** Makes the run wait for some work before it ends. */
  linger(work: Promise<unknown>): void;
}>;

type EndedTask = Readonly<{
  call: Call;
  isolation: Isolation;
  context: WorktreeContext;
  tree: OpenWorktree;
  origin: SourceTree;
  outcome: Outcome;
  policy?: Policy | undefined;
}>;

/** Worktrees of the tasks of one run. Patches are applied one after the other. */
export const createIsolate = (parts: IsolateParts): Isolate => new TaskWorktrees(parts);

class TaskWorktrees implements Isolate {
  readonly #parts: IsolateParts;
  readonly #appliedBy = new Map<string, string>();
  /**
   * The last use of each patch file, and the contenders (competing nodes of a race) whose collected changes are stored
   * in such a file.
   */
  readonly #patchUses = new Map<string, Promise<unknown>>();
  readonly #gathered = new Set<string>();
  #temporaryFolder: Promise<string> | undefined;
  #isPaused = false;
  #isUsed = false;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(parts: IsolateParts) {
    this.#parts = parts;
  }

  readonly run: Isolate["run"] = (...asked) => {
    this.#isUsed = true;
    const ended = this.#run(...asked);
    this.#parts.linger(ended);
    return ended;
  };

  readonly sweep: Isolate["sweep"] = async (before) => {
    const hasFolder = (this.#parts.worktrees ?? this.#temporaryFolder) !== undefined;
    if ((this.#isUsed || before) && hasFolder && !this.#isPaused) await removeWorktrees(await this.#folder());
  };

  readonly #run: Isolate["run"] = async (call, isolation, context, work) => {
    const { cwd, home, patch } = this.#parts;
    const name = attemptPath(call);
    if (call.attempt === GATHERS) this.#gathered.delete(name);
    const origin = await originOf(call, cwd, home);
    if ("status" in origin) return origin;
    const tree = await opened(join(await this.#folder(), `${call.run}-${hashOf(call)}`), {
      call,
      origin,
      isolation,
      context,
      keptPatch: () => patch(name),
    });
    if ("status" in tree) return tree;
    const worktree = { top: tree.folder, of: origin.top, gitDir: tree.gitDir };
    const { outcome, policy } = await work({ ...call, worktree });
    if (pauseReason(context.signal) !== undefined) {
      this.#isPaused = true; // a paused task continues in its worktree later
      return outcome;
    }
    return this.#inTurnFor(name, () => this.#settle({ call, isolation, context, tree, origin, outcome, policy }));
  };

  /** Applies the changes in the worktree of an ended task, or keeps them as a patch; then removes the worktree. */
  async #settle(ended: EndedTask): Promise<Outcome> {
    const { call, context, tree, origin, outcome } = ended;
    const name = attemptPath(call);
    if (call.attempt === GATHERS) this.#gathered.add(name);
    else if (this.#gathered.has(name)) {
      // The task was stopped, and its contender (the competing node of a race that it works for) has ended without it:
      // the patch contains what the contender collected.
      await removeWorktree(tree.folder);
      return outcome;
    }
    const patch = (await this.#parts.patch(name)) ?? join(await this.#temporary(), `${hashOf(call)}.patch`);
    const captured = await capture(tree, patch);
    if ("unable" in captured) {
      const text = `The changes of "${call.path}" could not be saved as a patch: ${captured.unable}. They are in ${tree.folder}.`;
      await keepWorktree(tree.folder);
      context.emit({ type: "warning", code: "CHANGES_LEFT", text });
      await rm(patch, { force: true });
      return outcome;
    }
    const { changes, ignored, repositories } = captured;
    const inner = { of: call.path, paths: repositories, worktree: tree.folder, patch, workspace: origin.tree.folder };
    for (const text of [...ignoredText(call, ignored), ...(await keepRepositories(inner))])
      context.emit({ type: "warning", code: "CHANGES_LEFT", text });
    if (changes.length === 0) await rm(patch, { force: true });
    const settled = changes.length === 0 ? undefined : await this.#settleChanges(ended, { changes, patch });
    await removeWorktree(tree.folder);
    if (!settled) return outcome;
    const { changes: made, conflict } = settled;
    return conflict ? { ...outcome, ...conflict, changes: made } : { ...outcome, changes: made };
  }

  async #settleChanges(
    { call, isolation, context, tree, origin, outcome, policy }: EndedTask,
    captured: Pick<Parameters<typeof settleChanges>[0], "changes" | "patch">,
  ): ReturnType<typeof settleChanges> {
    const { cwd, worktrees, recorder } = this.#parts;
    const [artifact, base] = [await artifactOfFile(captured.patch), await baseOf(call, cwd)];
    return settleChanges(
      { ...captured, artifact, origin, base, folder: tree.folder },
      {
        call,
        isolation,
        context,
        appliedBy: this.#appliedBy,
        isKept: worktrees !== undefined,
        inTurn: (work) => this.#inTurn(work),
        ...defined({ recorder }),
        outcome,
        policy,
      },
    );
  }

  #temporary(): Promise<string> {
    return (this.#temporaryFolder ??= mkdtemp(join(tmpdir(), "subcrew-changes-")));
  }

  /** The folder of the worktrees. */
  async #folder(): Promise<string> {
    return this.#parts.worktrees ?? join(await this.#temporary(), "trees");
  }

  /** Changes the workspace, one task after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#lastChange.then(work, work);
    this.#lastChange = next.catch(() => {});
    return next;
  }

  /**
   * Runs uses of a patch file one at a time: a contender (competing node of a race) that is a single task shares its
   * file with that task.
   */
  #inTurnFor<T>(patch: string, use: () => Promise<T>): Promise<T> {
    const next = (this.#patchUses.get(patch) ?? Promise.resolve()).then(use, use);
    this.#patchUses.set(patch, next);
    return next;
  }
}

/** The part of a worktree's name that identifies task and attempt, for people who read `git worktree list`. */
const hashOf = ({ path, attempt }: Call): string =>
  createHash("sha256").update(`${path}#${attempt}`).digest("hex").slice(0, 10);

/** The repository around the working folder of a task; for subagents of an isolated task, the worktree of that task. */
async function originOf(call: Call, cwd: string, home: string | undefined): Promise<SourceTree | FailedOutcome> {
  const cannot = (why: string, hint: string): FailedOutcome =>
    failed("UNSUPPORTED", `"${call.path}" cannot run in its own worktree: ${why}.`, { hint });
  const wanted = resolve(cwd, call.task.cwd ?? ".");
  const top = call.worktree?.of ?? (await topOf(await realpath(wanted).catch(() => wanted)));
  const none = "Run the task in a git repository, or leave out `isolation`.";
  if (top === undefined) return cannot(`${wanted} is not in a git repository`, none);
  const { worktree } = call;
  const origin = await openOrigin(top, worktree && { folder: worktree.top, gitDir: worktree.gitDir }, home);
  return "unable" in origin ? cannot(`git cannot use ${top}: ${origin.unable}`, none) : origin;
}

type Opening = Readonly<{
  call: Call;
  origin: SourceTree;
  isolation: Isolation;
  context: WorktreeContext;
  /** The file of this machine with the changes collected so far, if there are any. */
  keptPatch(): Promise<string | undefined>;
}>;

async function opened(
  folder: string,
  { call, origin, isolation, context, keptPatch }: Opening,
): Promise<OpenWorktree | FailedOutcome> {
  const found = context.isBegun ? await foundWorktree(folder, origin) : undefined;
  if (found) return found;
  if (context.isBegun && context.hasWorked) {
    const text = `The worktree of "${call.path}" no longer exists, and its changes are lost.`;
    return failed("DRIFT", text, { hint: "Start the task again." });
  }
  await removeWorktree(folder);
  const made = await openWorktree(folder, origin, isolation.dirty);
  if (!("unable" in made)) {
    if (context.isBegun && call.attempt === GATHERS) await restore(made, await keptPatch());
    return made;
  }
  await removeWorktree(folder);
  const text = `"${call.path}" cannot run in its own worktree: ${origin.top}: ${made.unable}.`;
  return failed("UNSUPPORTED", text, { hint: "Make a first commit, or leave out `isolation`." });
}

/** The attempt number of a worktree that collects the changes for a contender (a competing node of a race). */
const GATHERS = 0;

/** Restores the changes that a contender (a competing node of a race) had collected when it failed. */
async function restore({ folder, gitDir, origin }: OpenWorktree, patch: string | undefined): Promise<void> {
  if (patch !== undefined && existsSync(patch)) await applyPatch(patch, { ...origin, tree: { folder, gitDir } }, []);
}

/**
 * The folder to which file names in rules are relative: the workspace, or the task's folder if that is outside of the
 * workspace.
 */
async function baseOf({ task, worktree }: Call, cwd: string): Promise<string> {
  const real = (path: string): Promise<string> => realpath(path).catch(() => path);
  const [workspace, own] = await Promise.all([real(cwd), real(resolve(cwd, task.cwd ?? "."))]);
  const base = folderContains(workspace, own) ? workspace : own;
  return worktree ? movedInto(worktree, base) : base;
}

/** The text about files that git ignores, and that are lost with a worktree. */
export const ignoredText = ({ path }: Call, ignored: readonly string[]): string[] =>
  ignored.length === 0 ? [] : [`Files of "${path}" that git ignores were not copied back: ${listNames(ignored)}.`];
