import { relative } from "node:path";
import { changedFiles, type FileHistory, type RunChanges } from "../core/run/changed-files.ts";
import type { KeptEvent } from "../core/run/event.ts";
import { isEnded } from "../core/run/run-status.ts";
import type { RunStore } from "../core/run/run-store.ts";
import { CrewError } from "../core/schema/error.ts";
import { keptRuns } from "../runtime/background/stored-runs.ts";
import type { Redactor } from "../core/secrets/redact.ts";
import { type ComparedFile, compareVersions } from "../runtime/changes/compare-versions.ts";
import { type UndoneFile, undoChanges } from "../runtime/changes/undo-changes.ts";
import { folderContains } from "../runtime/files/folder-contains.ts";
import { type FileVersions, openFileVersions } from "../runtime/changes/file-versions.ts";

/** Selects changes of a run: the changes of one task, or of some files. */
export type ChangeSelection = Readonly<{ task?: string; files?: readonly string[] }>;

/** The changes of a run per file, and which changes could not be recorded. */
export type ChangeReport = Readonly<{
  run: string;
  cwd: string;
  files: readonly (ComparedFile & Readonly<{ name: string }>)[];
  unseen: RunChanges["unseen"];
}>;

/** Compares the files that a run changed, before and after it. Secrets in the diffs are masked. */
export async function reportChanges(
  { store, redactor }: Readonly<{ store: RunStore; redactor: Pick<Redactor, "text"> }>,
  id: string,
  selection: ChangeSelection = {},
): Promise<ChangeReport> {
  const { cwd, files, unseen } = await changesIn(store, id, selection);
  const versions = versionsOf(store, id);
  const compared = await Promise.all(
    files.map(async (each) => {
      const name = nameIn(cwd, each.file);
      const found = await compareVersions(each, { versions, name });
      if (!found) return [];
      return [{ ...found, ...(found.diff !== undefined && { diff: redactor.text(found.diff) }), name }];
    }),
  );
  const listed = compared.flat();
  return { run: id, cwd, files: listed.toSorted((a, b) => (a.name < b.name ? -1 : 1)), unseen };
}

/** Restores the files that a run changed. Refuses a run that a process is working on. */
export async function undoRun(
  store: RunStore,
  id: string,
  { dryRun = false, ...selection }: ChangeSelection & Readonly<{ dryRun?: boolean }> = {},
): Promise<readonly (UndoneFile & Readonly<{ name: string }>)[]> {
  const { owner, life } = await keptRuns(store).look(id);
  if (owner !== undefined && !isEnded(life))
    throw new CrewError("RUN_BUSY", `The run "${id}" is still running.`, `Stop the run first: \`subcrew stop ${id}\`.`);
  const { cwd, files } = await changesIn(store, id, selection);
  const done = await undoChanges(files, { versions: versionsOf(store, id), cwd, dryRun });
  return done.map((each) => ({ ...each, name: nameIn(cwd, each.file) }));
}

type FoundChanges = RunChanges & Readonly<{ cwd: string }>;

async function changesIn(store: RunStore, id: string, { task, files = [] }: ChangeSelection): Promise<FoundChanges> {
  const runs = keptRuns(store);
  const { state } = await runs.look(id);
  const over = new AbortController();
  const events: KeptEvent[] = [];
  if (state.seq > 0)
    for await (const event of runs.events(id, over.signal)) {
      if (event.type === "files.changed" || event.type === "tool.ended") events.push(event);
      if (event.seq >= state.seq) break;
    }
  over.abort();
  const all = changedFiles(events, task);
  const wanted = files.map((file) => fileNamed(file, all.files, state.cwd));
  return { ...all, cwd: state.cwd, files: wanted.length === 0 ? all.files : wanted };
}

/** Finds a changed file by its path below the run's folder, or by its absolute path. */
function fileNamed(name: string, files: readonly FileHistory[], cwd: string): FileHistory {
  const found = files.find(({ file }) => file === name || nameIn(cwd, file) === name);
  if (found) return found;
  const known = files.map(({ file }) => nameIn(cwd, file));
  throw new CrewError(
    "BAD_INPUT",
    `The run did not change the file "${name}".`,
    known.length === 0
      ? "The run changed no files that are recorded."
      : `Files that the run changed: ${known.slice(0, MOST_NAMED).join(", ")}${known.length > MOST_NAMED ? ", ..." : ""}.`,
  );
}

/** The stored versions of the files that a run changed; empty for a store without files. */
function versionsOf(store: RunStore, id: string): FileVersions {
  const folder = store.local(id, "versions");
  return folder === undefined
    ? { keep: () => Promise.resolve(""), read: async () => undefined }
    : openFileVersions(folder);
}

const MOST_NAMED = 10;

const nameIn = (cwd: string, file: string): string => (folderContains(cwd, file) ? relative(cwd, file) : file);
