import type { KeptEvent } from "./event.ts";
import { type FileVersion, isSameVersion } from "./file-version.ts";

/** One file that a run changed, with its versions before and during the run. */
export type FileHistory = Readonly<{
  file: string;
  /** The versions before the first change and after the last change. */
  before: FileVersion;
  after: FileVersion;
  /** Every version of the file that the run wrote, in order. */
  versions: readonly FileVersion[];
  /** The tasks of the run that changed the file. */
  tasks: readonly string[];
  /** True: the last change failed or was interrupted, so the file may not have the version `after`. */
  isUncertain: boolean;
}>;

/** The files that a run changed, and what is not known about them. */
export type RunChanges = Readonly<{
  files: readonly FileHistory[];
  /** Why files that shell commands changed could not be recorded, and how many commands that concerns. */
  unseen: readonly Readonly<{ reason: string; calls: number }>[];
}>;

/** Collects the recorded file changes of a run, or of one task with everything below it. */
export function changedFiles(events: Iterable<KeptEvent>, task?: string): RunChanges {
  const files = new Map<string, FileHistory>();
  const unseen = new Map<string, number>();
  const open = new Map<string, readonly string[]>();
  for (const event of events) {
    if (task !== undefined && event.path !== task && !event.path.startsWith(`${task}/`)) continue;
    if (event.type === "tool.ended") settle(files, open, `${event.path}#${event.call}`, event.error);
    if (event.type !== "files.changed") continue;
    if (event.unseen !== undefined) unseen.set(event.unseen, (unseen.get(event.unseen) ?? 0) + 1);
    for (const { file, before, after } of event.files) {
      const known = files.get(file);
      files.set(file, {
        file,
        before: known?.before ?? before,
        after,
        versions: [...(known?.versions ?? [before]), after],
        tasks: [...new Set([...(known?.tasks ?? []), event.path])],
        isUncertain: event.ahead === true,
      });
    }
    if (event.ahead === true && event.call !== undefined)
      open.set(
        `${event.path}#${event.call}`,
        event.files.map(({ file }) => file),
      );
  }
  return {
    files: [...files.values()].filter((each) => each.isUncertain || !isSameVersion(each.before, each.after)),
    unseen: Array.from(unseen, ([reason, calls]) => ({ reason, calls })),
  };
}

/** The changed files of a run as lines for a prompt: `src/a.ts (created)`. */
export function listChangedFiles({ files, unseen }: RunChanges, cwd: string): string[] {
  const lines = files.flatMap(({ file, before, after }) => {
    const kinds = [before.kind, after.kind];
    if (kinds.every((kind) => kind === "folder" || kind === "absent")) return [];
    const how = before.kind === "absent" ? "created" : after.kind === "absent" ? "deleted" : "changed";
    return [`${file.startsWith(`${cwd}/`) ? file.slice(cwd.length + 1) : file} (${how})`];
  });
  return [
    ...lines.slice(0, MAX_LISTED),
    ...(lines.length > MAX_LISTED ? [`${lines.length - MAX_LISTED} more`] : []),
    ...(unseen.length > 0 ? ["perhaps others, which shell commands changed"] : []),
  ];
}

const MAX_LISTED = 100;

/**
 * Marks a recorded change as certain once its tool call has succeeded, because the change was recorded before it was
 * made.
 */
function settle(
  files: Map<string, FileHistory>,
  open: Map<string, readonly string[]>,
  call: string,
  error: boolean,
): void {
  for (const file of open.get(call) ?? []) {
    const known = files.get(file);
    if (known && !error) files.set(file, { ...known, isUncertain: false });
  }
  open.delete(call);
}
