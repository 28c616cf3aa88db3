import { join } from "node:path";
import { ABSENT, type ChangedFile, type FileVersion, isSameVersion } from "../../core/run/file-version.ts";
import type { ChangeRecorder, SeenChanges } from "../../core/task/change-recorder.ts";
import { defined } from "../../core/text/defined.ts";
import { openRepository, type Repository, topOf } from "../git/git.ts";

type WatchParts = Readonly<{
  version(path: string): Promise<FileVersion>;
  keep(content: Uint8Array, mode: number | undefined): Promise<FileVersion>;
  home: string | undefined;
  /** Secret places and the state folder; the changes in them are not recorded. */
  isClosed(real: string): boolean;
}>;

/** If the repository has more changed files than this, the files that commands change are not recorded. */
const MOST_FILES = 2_000;

/**
 * Detects the files that a command changes by asking git before and after the command. Content that git does not have
 * (uncommitted changes) is stored before the command starts.
 */
export function createRepositoryWatch(parts: WatchParts): ChangeRecorder["watch"] {
  const opened = new Map<string, Promise<Repository | undefined>>();
  const repositoryAt = (top: string): Promise<Repository | undefined> => {
    const known =
      opened.get(top) ??
      openRepository(top, { ...defined({ home: parts.home }), isPatient: true }).then((found) =>
        found.ok ? found : undefined,
      );
    opened.set(top, known);
    return known;
  };
  return async (folders) => {
    const tops = new Set(await Promise.all(folders.map((folder) => topOf(folder))));
    const unseen = tops.has(undefined) ? { unseen: "the folder is not in a git repository" } : {};
    const looks = await Promise.all(
      [...tops].flatMap((top) =>
        top === undefined ? [] : [repositoryAt(top).then((git) => git && watchOne(top, git, parts))],
      ),
    );
    return async () => {
      const seen = await Promise.all(
        looks.map((look) => look?.() ?? Promise.resolve({ files: [], unseen: "git could not be run" })),
      );
      return Object.assign({ ...unseen }, ...seen, { files: seen.flatMap(({ files }) => files) }) as SeenChanges;
    };
  };
}

/** Inspects one repository now, and again when the returned function is called. */
async function watchOne(
  top: string,
  git: Repository,
  { version, keep, isClosed }: WatchParts,
): Promise<() => Promise<SeenChanges>> {
  const isOpen = (path: string): boolean => !isClosed(join(top, path));
  const first = await lookAt(git, isOpen);
  if ("unseen" in first) return () => Promise.resolve(first);
  const before = new Map(
    await Promise.all(first.dirty.map(async (path) => [path, await version(join(top, path))] as const)),
  );
  const committed = async (path: string): Promise<FileVersion> => {
    if (first.head === undefined) return ABSENT;
    const entry = await git.work(["ls-tree", "-z", first.head, "--", path]);
    const mode = entry.ok ? /^(100644|100755) blob/.exec(entry.text)?.[1] : undefined;
    if (mode === undefined) return ABSENT;
    const content = await git.work(["cat-file", "--filters", `${first.head}:${path}`]);
    return content.ok ? keep(content.bytes, mode === "100755" ? 0o755 : 0o644) : { kind: "other" };
  };
  return async () => {
    const last = await lookAt(git, isOpen);
    if ("unseen" in last) return last;
    const moved =
      first.head !== undefined && last.head !== undefined && first.head !== last.head
        ? await git.work([
            "diff",
            "--name-only",
            "-z",
            "--no-renames",
            "--ignore-submodules=all",
            first.head,
            last.head,
          ])
        : undefined;
    const between = moved?.ok ? namesIn(moved.text).filter(isOpen) : [];
    const paths = [...new Set([...first.dirty, ...last.dirty, ...between])];
    if (paths.length > MOST_FILES) return TOO_MANY;
    const files: ChangedFile[] = [];
    for (const path of paths) {
      const file = join(top, path);
      const [was, is] = [before.get(path) ?? (await committed(path)), await version(file)];
      if (!isSameVersion(was, is)) files.push({ file, before: was, after: is });
    }
    return { files };
  };
}

type Look = Readonly<{ head: string | undefined; dirty: readonly string[] }>;

const TOO_MANY: SeenChanges = { files: [], unseen: `the repository has more than ${MOST_FILES} changed files` };

async function lookAt(
  git: Repository,
  isOpen: (path: string) => boolean,
): Promise<Look | (SeenChanges & { unseen: string })> {
  const [head, status] = await Promise.all([
    git.work(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
    git.work(["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"]),
  ]);
  if (!status.ok) return { files: [], unseen: `git could not be run: ${status.reason}` };
  const dirty = namesIn(status.text)
    .map((line) => line.slice(3))
    .filter(isOpen);
  if (status.cut || dirty.length > MOST_FILES) return TOO_MANY as SeenChanges & { unseen: string };
  return { head: head.ok ? head.text.trim() : undefined, dirty };
}

const namesIn = (text: string): string[] => text.split("\0").filter((name) => name !== "");
