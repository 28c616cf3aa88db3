import { lstat, readdir } from "node:fs/promises";
import { protectedPart } from "../../core/policy/protected-paths.ts";
import { placed } from "../../core/rules/call-subject.ts";
import type { CallAccess } from "../../core/task/tool.ts";
import { mountPoints, mountTable } from "../../runtime/files/mount-aliases.ts";
import { openWalked, quoted, type Root, refusal } from "../../runtime/files/open-contained.ts";
import { openContainedPath, type ContainedPath } from "../../runtime/files/write-contained.ts";

/** One entry of a folder that is copied, moved or deleted as a whole. */
export type FileEntry = Readonly<{
  path: string;
  folder: boolean;
  /** Opens the folder that contains the entry. */
  spot(): Promise<ContainedPath>;
}>;

const MOST = 10_000;

/** `movedTo`: the new path of the folder; the content must be allowed at that path, too. */
type Handling = Readonly<{ signal: AbortSignal; access?: CallAccess; movedTo?: Pick<ContainedPath, "real" | "path"> }>;

/**
 * Everything in a folder; each entry comes after its parent folder. Symbolic links and other file systems are not
 * followed. Throws when an entry may not be changed: approving a folder does not approve protected files in it.
 */
export async function contentsOf(
  root: Root,
  path: string,
  { signal, access, movedTo }: Handling,
): Promise<FileEntry[]> {
  const found: FileEntry[] = [];
  const folders = [path];
  const device = (await deviceOf(root, path)) ?? -1;
  // a folder of the same file system can be mounted as well (`mount --bind`)
  const mounted = mountPoints(mountTable());
  const { isClosed, isClosedFile } = access?.closedIn(root.real) ?? {};
  /** True for another name (hard link) of a file that may not be read. */
  const isClosedLink = async (inner: string): Promise<boolean> => {
    const stats = isClosedFile && (await lstat(`${root.real}/${inner}`).catch(() => undefined));
    return stats !== undefined && stats.nlink > 1 && (await isClosedFile!(stats));
  };
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    signal.throwIfAborted();
    const { handle, place } = await openWalked(root, folder);
    try {
      for (const entry of await readdir(place, { withFileTypes: true })) {
        const inner = `${folder}/${entry.name}`;
        const [real, rest] = [`${root.real}/${inner}`, inner.slice(path.length)];
        checkChange({ real, path: inner }, access);
        if (isClosed?.(inner) || (entry.isFile() && (await isClosedLink(inner)))) throw closed(path);
        if (movedTo) checkChange({ real: movedTo.real + rest, path: movedTo.path + rest }, access);
        if (mounted.has(real)) throw otherFileSystem(inner);
        found.push({
          path: inner,
          folder: entry.isDirectory(),
          spot: () => openContainedPath(root, inner, { itself: true }),
        });
        if (found.length > MOST)
          throw new Error(`${quoted(path)} contains more than ${MOST} entries: change it in parts`);
        if (!entry.isDirectory()) continue;
        if ((await deviceOf(root, inner)) !== device) throw otherFileSystem(inner);
        folders.push(inner);
      }
    } finally {
      await handle.close();
    }
  }
  return found;
}

/** The absolute path of an entry of a folder, for read-only checks that need no open folder. */
export function pathsOf({ real }: Root, { path }: FileEntry): Readonly<{ real: string; at(): string }> {
  const absolute = `${real}/${path}`;
  return { real: absolute, at: () => absolute };
}

function checkChange({ real, path }: Pick<ContainedPath, "real" | "path">, access: CallAccess | undefined): void {
  const verdict = access?.check(placed(access.placeOf(real), true));
  const refused = verdict === undefined ? protectedPart(path) !== undefined : verdict.decision === "deny";
  if (refused) throw refusal("DENIED", `${quoted(path)} may not be changed${verdict ? `: ${verdict.why}` : ""}`);
}

/** The error for a forbidden file. It does not reveal the name. */
const closed = (folder: string): Error =>
  refusal("DENIED", `${quoted(folder)} contains something that may not be read, so it is not moved`);

const otherFileSystem = (path: string): Error =>
  refusal("DENIED", `${quoted(path)} is another file system and is left alone`);

async function deviceOf(root: Root, path: string): Promise<number | undefined> {
  const { handle } = await openWalked(root, path);
  try {
    return (await handle.stat()).dev;
  } finally {
    await handle.close();
  }
}
