import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { RunRecords } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { Disk } from "../disk/disk.ts";
import { firstEvent, lastEvent } from "./journal-ends.ts";
import { damageText } from "./journal-records.ts";
import { runsFolder } from "./layout.ts";
import { followJournal } from "./follow-journal.ts";
import { journalPieces, readForResume } from "./read-journal.ts";
import { RUN_ID } from "./run-id.ts";

/** Reads the records of the runs below a home folder. */
export function folderRecords(
  home: string,
  { folderOf, disk }: Readonly<{ folderOf(run: string): string; disk: Disk }>,
): Omit<RunRecords, "place"> {
  return {
    list: async () => {
      const names = await readdir(runsFolder(home)).catch(() => []);
      const dated = await Promise.all(
        names
          .filter((name) => RUN_ID.test(name))
          .map(async (name) => ({ name, at: (await stat(folderOf(name)).catch(() => undefined))?.mtimeMs ?? 0 })),
      );
      return dated.toSorted((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
    },
    first: async (run) => firstEvent(folderOf(run)),
    last: async (run) => lastEvent(folderOf(run)),
    read: async function* (run) {
      try {
        for await (const { events, damage, tornBytes } of journalPieces(folderOf(run)))
          yield { events, damage: damage.map(damageText), tornBytes };
      } catch (error) {
        throw missing(run, error);
      }
    },
    readWhole: async (run) =>
      readForResume(folderOf(run), disk).catch((error: unknown) => {
        throw missing(run, error);
      }),
    follow: async function* (run, options) {
      try {
        yield* followJournal(folderOf(run), options);
      } catch (error) {
        throw missing(run, error);
      }
    },
    measure: async (run) => ({
      bytes: await sizeOf(folderOf(run)),
      changedAt: (await stat(folderOf(run)).catch(() => undefined))?.mtimeMs ?? 0,
    }),
  };
}

/** The error for a run without a journal: it is unknown. Other errors are returned unchanged. */
function missing(run: string, error: unknown): unknown {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  return isMissing ? unknownRun(run) : error;
}

/** The error for a run that does not exist. */
export const unknownRun = (run: string): CrewError =>
  new CrewError("UNKNOWN_RUN", `The run "${run}" does not exist.`, "`subcrew runs` lists the runs.");

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(
        async (entry) => (await stat(join(entry.parentPath ?? entry.path, entry.name)).catch(() => ({ size: 0 }))).size,
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
