import { randomInt } from "node:crypto";
import { mkdir, readdir, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { readRegularFile, readRegularText } from "../disk/regular-file.ts";
import { conflictsIn, type FileChange, readChanges, readModules } from "../../core/outcome/worktree-changes.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { type GitAnswer, type GitTree, openRepository, type Repository } from "./git.ts";
import { commonDirOf, gitDirOf, withWorktreeLock } from "./worktree-lock.ts";

/**
 * A repository and one of its work trees, from which a task's worktree is created and to which its changes are applied.
 */
export type SourceTree = Readonly<{
  repository: Repository;
  /** The real path of the folder that contains `.git`. */
  top: string;
  /** The work tree in use: the repository's own, or a worktree of a task. */
  tree: GitTree & Readonly<{ folder: string }>;
}>;

/** A worktree in use. A marker file beside it identifies it after a crash. */
export type OpenWorktree = Readonly<{ folder: string; gitDir: string; base: string; origin: SourceTree }>;

/** The changes of a task: the files, the patch, and the files that a patch cannot contain. */
export type CapturedChanges = Readonly<{
  changes: readonly FileChange[];
  /** Files that git ignores: they are not part of the patch. */
  ignored: readonly string[];
  /** Submodules and nested repositories that were changed; they are not part of the patch, either. */
  repositories: readonly string[];
}>;

/** The git command that failed, and its error. */
export type GitRefusal = Readonly<{ unable: string }>;

/** Opens the repository around a folder. */
export async function openOrigin(
  top: string,
  tree: GitTree | undefined,
  home: string | undefined,
): Promise<SourceTree | GitRefusal> {
  const repository = await openRepository(top, { ...defined({ home }), isPatient: true });
  if (!repository.ok) return { unable: repository.reason };
  return { repository, top, tree: { ...tree, folder: tree?.folder ?? top } };
}

/**
 * Creates a worktree at the last commit; `dirty`: including uncommitted changes, which then do not count as changes of
 * the task.
 */
export async function openWorktree(
  folder: string,
  origin: SourceTree,
  dirty: boolean,
): Promise<OpenWorktree | GitRefusal> {
  const { repository, tree, top } = origin;
  const head = await repository.work(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], tree);
  if (!head.ok) return { unable: "the repository has no commit yet" };
  const commit = head.text.trim();
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await note(folder, { top });
  const add = (): Promise<GitAnswer> =>
    repository.work(["worktree", "add", "--quiet", "--detach", folder, commit], tree);
  const added = await withWorktreeLock(top, async () => {
    let answer = await add();
    // Another program, such as a git command of the user, changes the list of worktrees at the same time.
    for (let tries = 1; tries < TRIES && !answer.ok && DISTURBED.test(answer.reason); tries += 1) {
      await discard(folder, top, undefined);
      await setTimeout(randomInt(20, 100) * tries);
      answer = await add();
    }
    return answer;
  });
  if (!added.ok) return { unable: added.reason };
  const gitDir = await gitDirOf(folder);
  const open = { folder, gitDir, base: commit, origin };
  if (!dirty) {
    await note(folder, { top, gitDir, base: commit });
    return open;
  }
  const base = await withDirty(open, `${folder}.dirty.patch`);
  if (typeof base !== "string") return base;
  await note(folder, { top, gitDir, base });
  return { ...open, base };
}

/** Creates a worktree at a commit, and applies changes that do not count as changes of the task. */
export async function openWorktreeAt(
  folder: string,
  origin: SourceTree,
  { commit, dirty }: Readonly<{ commit: string; dirty?: string }>,
): Promise<OpenWorktree | GitRefusal> {
  const { repository, tree, top } = origin;
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await note(folder, { top });
  const added = await withWorktreeLock(top, () =>
    repository.work(["worktree", "add", "--quiet", "--detach", folder, commit], tree),
  );
  if (!added.ok) return { unable: added.reason };
  const gitDir = await gitDirOf(folder);
  const open = { folder, gitDir, base: commit, origin };
  if (dirty !== undefined) {
    const applied = await repository.work(["apply", "--whitespace=nowarn", "-p1", dirty], { folder, gitDir });
    if (!applied.ok) return { unable: applied.reason };
    const staged = await stage(folder, join(gitDir, "index"), { at: folder, origin, tree: { folder, gitDir } });
    if ("unable" in staged) return staged;
    const snapshot = await staged.git("write-tree");
    if (!snapshot.ok) return { unable: snapshot.reason };
    open.base = snapshot.text.trim();
  }
  await note(folder, { top, gitDir, base: open.base });
  return open;
}

/**
 * Writes the uncommitted changes of a work tree to a patch file. `at`: a path for temporary files. Returns false if
 * there are no uncommitted changes.
 */
export async function captureDirty(origin: SourceTree, at: string, patch: string): Promise<boolean | GitRefusal> {
  const { repository, tree } = origin;
  const index = await repository.work(["rev-parse", "--git-path", "index"], tree);
  if (!index.ok) return { unable: index.reason };
  const staged = await stage(tree.folder, resolve(tree.folder, index.text.trim()), { at, origin, tree });
  if ("unable" in staged) return staged;
  const captured = await patchOf(staged, "HEAD", patch);
  return "unable" in captured ? captured : captured.changes.length > 0;
}

const TRIES = 6;
/** Git's errors about a worktree entry that is half written, and about a lock that another git command holds. */
const DISTURBED = /worktrees\/|\.lock\b|unable to lock|cannot lock/i;

/** The worktree that an earlier process of the run created, if it is complete. */
export async function foundWorktree(folder: string, origin: SourceTree): Promise<OpenWorktree | undefined> {
  const { gitDir, base } = await noted(folder);
  const there = gitDir !== undefined && (await gitDirOf(folder).catch(() => undefined)) === gitDir;
  return there && base !== undefined ? { folder, gitDir, base, origin } : undefined;
}

/** Copies uncommitted changes into a worktree, and returns the git tree that the task starts with. */
async function withDirty({ folder, gitDir, base, origin }: OpenWorktree, patch: string): Promise<string | GitRefusal> {
  const { repository, tree } = origin;
  const index = await repository.work(["rev-parse", "--git-path", "index"], tree);
  if (!index.ok) return { unable: index.reason };
  const staged = await stage(origin.tree.folder, resolve(tree.folder, index.text.trim()), { at: folder, origin, tree });
  if ("unable" in staged) return staged;
  const snapshot = await staged.git("write-tree");
  if (!snapshot.ok) return { unable: snapshot.reason };
  const differs = await patchOf(staged, base, patch);
  if ("unable" in differs) return differs;
  if (differs.changes.length === 0) return snapshot.text.trim();
  const applied = await repository.work(["apply", "--whitespace=nowarn", "-p1", patch], { folder, gitDir });
  await rm(patch, { force: true });
  return applied.ok ? snapshot.text.trim() : { unable: applied.reason };
}

/** Writes the changes in a worktree to a patch file, relative to the state in which the task started. */
export async function capture(
  { folder, gitDir, base, origin }: OpenWorktree,
  patch: string,
): Promise<CapturedChanges | GitRefusal> {
  const tree = { folder, gitDir };
  const staged = await stage(folder, join(gitDir, "index"), { at: folder, origin, tree });
  if ("unable" in staged) return staged;
  const captured = await patchOf(staged, base, patch);
  if ("unable" in captured) return captured;
  const ignored = await staged.git("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory");
  const names = ignored.ok ? ignored.text.split("\0").filter((name) => name !== "") : [];
  const touched = await Promise.all(staged.modules.map((path) => isTouched(join(folder, path))));
  const modules = staged.modules.filter((_, at) => touched[at]);
  return { ...captured, ignored: names, repositories: [...new Set([...captured.repositories, ...modules])] };
}

/** True for a submodule that the task has filled or removed: in a new worktree, submodules are empty folders. */
const isTouched = (module: string): Promise<boolean> =>
  readdir(module).then(
    (names) => names.length > 0,
    () => true,
  );

/** A temporary index of git; `modules`: the paths of the repository's submodules. */
type Staged = Readonly<{ git(...args: readonly string[]): Promise<GitAnswer>; modules: readonly string[] }>;

/**
 * Adds everything in a work tree to a temporary index with its own object store, as git would commit it: neither the
 * index nor the objects of the repository are touched.
 */
async function stage(
  folder: string,
  index: string,
  { at, origin, tree }: { at: string; origin: SourceTree; tree: GitTree },
): Promise<Staged | GitRefusal> {
  const objects = await origin.repository.work(["rev-parse", "--git-path", "objects"], origin.tree);
  if (!objects.ok) return { unable: objects.reason };
  const env = {
    GIT_INDEX_FILE: `${at}.index`,
    GIT_OBJECT_DIRECTORY: `${at}.objects`,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(resolve(origin.tree.folder, objects.text.trim())),
  };
  await mkdir(env.GIT_OBJECT_DIRECTORY, { recursive: true, mode: 0o700 });
  await rm(env.GIT_INDEX_FILE, { force: true });
  // Copies the repository's index, so that git need not read all files again. The timestamp of the index is kept: git
  // compares files again that are as new as the index.
  await copyWithTime(index, env.GIT_INDEX_FILE).catch(() => {});
  const git: Staged["git"] = (...args) => origin.repository.work(args, { ...tree, folder, env });
  const modules = await passOver(git);
  if ("unable" in modules) return modules;
  // In a sparse checkout, files outside of the chosen folders are added only with this option, which older versions of
  // git do not know.
  const sparse = await git("add", "--sparse", "--all", "--", ".");
  const added = !sparse.ok && /unknown option/.test(sparse.reason) ? await git("add", "--all", "--", ".") : sparse;
  return added.ok ? { git, modules } : { unable: added.reason };
}

/**
 * Treats submodules as unchanged. Otherwise git would ask each of them for its state, and run the programs in its
 * configuration.
 */
async function passOver(git: Staged["git"]): Promise<string[] | GitRefusal> {
  const listed = await git("ls-files", "-z", "--stage");
  if (!listed.ok) return { unable: listed.reason };
  if (listed.cut) return { unable: "the repository has too many files" };
  const modules = readModules(listed.text);
  if (modules.length === 0) return [];
  const passed = await git("update-index", "--assume-unchanged", "--", ...modules);
  return passed.ok ? modules : { unable: passed.reason };
}

async function copyWithTime(from: string, to: string): Promise<void> {
  const { atime, mtime } = await stat(from);
  await writeFile(to, await readRegularFile(from));
  await utimes(to, atime, mtime);
}

async function patchOf({ git }: Staged, base: string, file: string): Promise<CapturedChanges | GitRefusal> {
  const raw = await git("diff-index", "--cached", "--raw", "-z", "--abbrev=40", "--no-renames", base, "--");
  if (!raw.ok) return { unable: raw.reason };
  const all = readChanges(raw.text);
  const inner = all.filter(({ isRepository }) => isRepository).map(({ path }) => path);
  if (inner.length > 0) {
    // The commit of a submodule is not part of the changes: it stays as it is.
    const back = await git("reset", "--quiet", base, "--", ...inner);
    if (!back.ok) return { unable: back.reason };
  }
  const format = ["--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];
  const prefixes = ["--src-prefix=a/", "--dst-prefix=b/", "--unified=3", `--output=${file}`];
  const written = await git("diff-index", "--cached", "--patch", ...format, ...prefixes, base, "--");
  if (!written.ok) return { unable: written.reason };
  return { changes: all.filter(({ isRepository }) => !isRepository), ignored: [], repositories: inner };
}

/** The result of applying a patch: applied, already applied, or conflicting files. */
export type ApplyResult =
  | "applied"
  | "already"
  | Readonly<{ conflicts: Readonly<Record<string, string>>; reason: string }>;

/** Applies a patch, or its part for one file, atomically to a work tree. The index is unchanged. */
export async function applyPatch(
  patch: string,
  { repository, tree }: SourceTree,
  files: readonly string[],
  { only }: Readonly<{ only?: string }> = {},
): Promise<ApplyResult> {
  const part = only === undefined ? [] : [`--include=${only.replace(/[*?[\]\\]/g, "\\$&")}`];
  const apply = (...how: readonly string[]): Promise<GitAnswer> =>
    repository.work(["apply", "--whitespace=nowarn", "-p1", ...part, ...how, patch], tree);
  const check = await apply("--check");
  if (check.ok) {
    const done = await apply();
    return done.ok ? "applied" : { conflicts: conflictsIn(done.said ?? "", files), reason: done.reason };
  }
  if ((await apply("--check", "--reverse")).ok) return "already";
  return { conflicts: conflictsIn(check.said ?? "", files), reason: check.reason };
}

/** Deletes a worktree: its folder, its marker files and its registration in the repository. */
export async function removeWorktree(folder: string): Promise<void> {
  const { top, gitDir } = await noted(folder);
  if (top === undefined) await discard(folder, top, gitDir);
  else await withWorktreeLock(top, () => discard(folder, top, gitDir));
  for (const more of [".index", ".objects", ".dirty.patch", ".json"])
    await rm(`${folder}${more}`, { recursive: true, force: true });
}

async function discard(folder: string, top: string | undefined, gitDir: string | undefined): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const entry of [gitDir, ...(top === undefined ? [] : await entriesOf(top, folder))]) {
    if (entry === undefined || basename(dirname(entry)) !== "worktrees") continue;
    await rm(entry, { recursive: true, force: true });
    await rmdir(dirname(entry)).catch(() => {}); // git also removes this folder when its last worktree is removed
  }
}

/** Records that a worktree contains the only copy of changes, so that only the deletion of its run removes it. */
export async function keepWorktree(folder: string): Promise<void> {
  await note(folder, { ...(await noted(folder)), kept: true });
}

/** Removes the worktrees in a folder, except worktrees that contain the only copy of changes; `all`: these, too. */
export async function removeWorktrees(folder: string, { all = false } = {}): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const trees = names.filter((name) => name.endsWith(".json")).map((name) => join(folder, name.slice(0, -5)));
  let isKept = false;
  for (const tree of trees) {
    if (!all && (await noted(tree)).kept) isKept = true;
    else await removeWorktree(tree);
  }
  if (!isKept) await rm(folder, { recursive: true, force: true });
}

/** The entries in which the repository records a worktree whose creation may not have finished. */
async function entriesOf(top: string, folder: string): Promise<string[]> {
  const common = await commonDirOf(top);
  if (common === undefined) return [];
  const names = await readdir(join(common, "worktrees")).catch(() => []);
  const entries = names.map((name) => join(common, "worktrees", name));
  const about = await Promise.all(entries.map((entry) => readRegularText(join(entry, "gitdir")).catch(() => "")));
  return entries.filter((_, at) => about[at]?.trim() === join(folder, ".git"));
}

type Note = Readonly<{ top?: string; gitDir?: string; base?: string; kept?: boolean }>;

const note = (folder: string, what: Note): Promise<void> =>
  writeFile(`${folder}.json`, `${JSON.stringify(what)}\n`, { mode: 0o600, flush: true });

async function noted(folder: string): Promise<Note> {
  try {
    const value: unknown = parseJson(await readRegularText(`${folder}.json`));
    const read = (key: string): string | undefined =>
      isRecord(value) && typeof value[key] === "string" ? value[key] : undefined;
    const [top, gitDir, base] = [read("top"), read("gitDir"), read("base")];
    const kept = isRecord(value) && value["kept"] === true;
    return { ...(top && { top }), ...(gitDir && { gitDir }), ...(base && { base }), ...(kept && { kept }) };
  } catch {
    return {};
  }
}
