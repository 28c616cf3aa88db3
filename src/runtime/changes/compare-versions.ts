import type { FileHistory } from "../../core/run/changed-files.ts";
import type { FileVersion } from "../../core/run/file-version.ts";
import { isSameVersion } from "../../core/run/file-version.ts";
import { unifiedDiff } from "../../core/text/diff.ts";
import type { FileVersions } from "./file-versions.ts";
import { presentVersion } from "./recorder.ts";

/** The change of one path, for people: what happened, counted lines, and the diff of texts. */
export type ComparedFile = Readonly<{
  file: string;
  how: "created" | "changed" | "deleted";
  tasks: readonly string[];
  added: number;
  removed: number;
  /** A unified diff; absent for anything but text. */
  diff?: string;
  /** The text shown instead of a diff. */
  note?: string;
  /** True: the file was changed again after the run. */
  changedSince: boolean;
}>;

/**
 * Compares the versions of a file before and after a run. `undefined`: the recorded last change of the run never took
 * effect.
 */
export async function compareVersions(
  { file, before, after: recorded, versions: known, tasks, isUncertain }: FileHistory,
  { versions, name }: Readonly<{ versions: FileVersions; name: string }>,
): Promise<ComparedFile | undefined> {
  const now = await presentVersion(file);
  const after = isUncertain ? (known.find((version) => isSameVersion(version, now)) ?? recorded) : recorded;
  if (isSameVersion(before, after)) return undefined;
  const how = before.kind === "absent" ? "created" : after.kind === "absent" ? "deleted" : "changed";
  const shared = { file, how, tasks, changedSince: !isSameVersion(now, after) } as const;
  const [old, made] = await Promise.all([textOf(before, versions), textOf(after, versions)]);
  if (old === undefined || made === undefined)
    return { ...shared, added: 0, removed: 0, note: noteOn(before, after, how) };
  const diff = unifiedDiff(old, made, name);
  return { ...shared, ...countLines(diff), diff };
}

/** The text of a file version; empty if the file did not exist, `undefined` for everything that is not text. */
async function textOf(version: FileVersion, versions: FileVersions): Promise<string | undefined> {
  if (version.kind === "absent") return "";
  if (version.kind !== "file" || !version.kept) return undefined;
  const content = await versions.read(version.hash);
  return content === undefined || content.includes(0) ? undefined : content.toString("utf8");
}

function noteOn(before: FileVersion, after: FileVersion, how: ComparedFile["how"]): string {
  const words: Readonly<Record<FileVersion["kind"], string>> = {
    absent: "nothing",
    folder: "a folder",
    other: "a special file",
    link: "a link",
    file: "a file",
  };
  if (how !== "changed") return `${words[how === "created" ? after.kind : before.kind]} was ${how}`;
  const isTooLarge = [before, after].some((version) => version.kind === "file" && !version.kept);
  if (isTooLarge) return "the content was too large to be stored";
  return before.kind === after.kind ? "it is not a text file" : `${words[before.kind]} became ${words[after.kind]}`;
}

function countLines(diff: string): Readonly<{ added: number; removed: number }> {
  const lines = diff.split("\n").slice(2);
  const starting = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return { added: starting("+"), removed: starting("-") };
}
