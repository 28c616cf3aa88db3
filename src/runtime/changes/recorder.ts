import { lstat, readlink } from "node:fs/promises";
import { ABSENT, type FileVersion } from "../../core/run/file-version.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { ChangeRecorder } from "../../core/task/change-recorder.ts";
import { readRegularFile } from "../disk/regular-file.ts";
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
  { home }: Readonly<{ home: string | undefined }>,
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
  const version = (path: string): Promise<FileVersion> => versionAt(path, keep);
  const watch = createRepositoryWatch({ version, keep, home });
  return { keep: (content, mode) => keep(Buffer.from(content), mode), version, watch };
}

/** The recorder of a run; `undefined` where the run's store creates no files. */
export function recorderFor(
  store: Pick<RunStore, "local">,
  run: string,
  home: string | undefined,
): ChangeRecorder | undefined {
  const folder = store.local(run, "versions");
  return folder === undefined ? undefined : createChangeRecorder(openFileVersions(folder), { home });
}

/** The version at a path now. Nothing is stored. */
export function presentVersion(path: string): Promise<FileVersion> {
  return versionAt(path, (content, mode) =>
    Promise.resolve({ kind: "file", hash: hashOf(content), bytes: content.length, mode, kept: false }),
  );
}

async function versionAt(
  path: string,
  keep: (content: Uint8Array, mode: number) => Promise<FileVersion>,
): Promise<FileVersion> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return ABSENT;
  if (stats.isDirectory()) return { kind: "folder" };
  if (stats.isSymbolicLink()) return { kind: "link", target: await readlink(path).catch(() => "") };
  if (!stats.isFile()) return { kind: "other" };
  const mode = stats.mode & 0o777;
  if (stats.size > MOST_BYTES) return { kind: "file", hash: "", bytes: stats.size, mode, kept: false };
  const content = await readRegularFile(path, MOST_BYTES).catch(() => undefined);
  return content === undefined ? { kind: "file", hash: "", bytes: stats.size, mode, kept: false } : keep(content, mode);
}
