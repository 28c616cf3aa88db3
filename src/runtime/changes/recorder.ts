import { lstat, readlink, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { ABSENT, type FileVersion } from "../../core/run/file-version.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { ChangeRecorder } from "../../core/task/change-recorder.ts";
import { checkRegular, openRegular } from "../disk/regular-file.ts";
import { comparedPlace, knownPlace } from "../files/open-contained.ts";
import { type FileVersions, hashOf, openFileVersions } from "./file-versions.ts";
import { createRepositoryWatch } from "./watch-repository.ts";

/** The maximum size of a file whose content is stored; larger files are recorded without it. */
const MOST_BYTES = 20_000_000;

/**
 * Records the changes of one run. Content that cannot be stored is recorded as missing; the change itself does not
 * fail.
 */
function createChangeRecorder(
  versions: FileVersions,
  { home, isClosed = () => false }: Readonly<{ home: string | undefined; isClosed: IsClosed | undefined }>,
): ChangeRecorder {
  const keep = async (content: Uint8Array, mode: number | undefined): Promise<FileVersion> => {
    const stored = content.length > MOST_BYTES ? undefined : await versions.keep(content).catch(() => undefined);
    const hash = stored ?? hashOf(content);
    return {
      kind: "file",
      hash,
      bytes: content.length,
      ...(mode !== undefined && { mode }),
      kept: stored !== undefined,
    };
  };
  const version: ChangeRecorder["version"] = (path, real) => versionAt(path, keep, real);
  const watch = createRepositoryWatch({ version, keep, home, isClosed });
  return { keep: (content, mode) => keep(Buffer.from(content), mode), version, watch };
}

/** Whether no tool may read a file: a secret place, or a file of the state folder. */
type IsClosed = (real: string) => boolean;

/** The recorder of a run; `undefined` where the run's store creates no files. */
export function recorderFor(
  store: Pick<RunStore, "local">,
  run: string,
  home: string | undefined,
  isClosed?: IsClosed,
): ChangeRecorder | undefined {
  const folder = store.local(run, "versions");
  return folder === undefined ? undefined : createChangeRecorder(openFileVersions(folder), { home, isClosed });
}

/** The version at a path now. Nothing is stored. */
export function presentVersion(path: string): Promise<FileVersion> {
  return versionAt(path, (content, mode) =>
    Promise.resolve({ kind: "file", hash: hashOf(content), bytes: content.length, mode, kept: false }),
  );
}

/**
 * The version at a path. There is none if the folder of the path is a symbolic link or leads through one, because the
 * file behind the link is another file. The location of the open file decides, so replacing a folder by a link
 * meanwhile has no effect.
 */
async function versionAt(
  path: string,
  keep: (content: Uint8Array, mode: number) => Promise<FileVersion>,
  real: string = path,
): Promise<FileVersion> {
  const folder = await realpath(dirname(path)).catch(() => undefined);
  const stats = folder === dirname(real) ? await lstat(path).catch(() => undefined) : undefined;
  if (stats === undefined) return ABSENT;
  if (stats.isDirectory()) return { kind: "folder" };
  if (stats.isSymbolicLink()) return { kind: "link", target: await readlink(path).catch(() => "") };
  if (!stats.isFile()) return { kind: "other" };
  const mode = stats.mode & 0o777;
  const content = stats.size > MOST_BYTES ? undefined : await contentAt(path, real).catch(() => undefined);
  return content === undefined ? { kind: "file", hash: "", bytes: stats.size, mode, kept: false } : keep(content, mode);
}

async function contentAt(path: string, real: string): Promise<Buffer> {
  const handle = await openRegular(path);
  try {
    const place = (await knownPlace(handle)) ?? (await comparedPlace(handle, path));
    if (place !== real) throw new Error(`${real} is behind a symbolic link`);
    checkRegular(real, await handle.stat(), MOST_BYTES);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
