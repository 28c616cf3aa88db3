import { rmdirSync, rmSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import type { KeptRecords, RunStore } from "../../core/run/run-store.ts";
import { CrewError, isCrewError } from "../../core/schema/error.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { fault } from "../disk/fault-points.ts";
import { livingClaim, whoWeAre } from "../disk/process-claim.ts";
import { readRegularText, WRITE_FLAGS } from "../disk/regular-file.ts";
import { openHashedTexts } from "../disk/hashed-texts.ts";
import { writeAtomic } from "../disk/write-atomic.ts";
import { CommandFolder } from "./command-folder.ts";
import { damageText, type JournalContents } from "./journal-records.ts";
import { cannotRecord, openJournal } from "./journal.ts";
import { firstEvent, lastEvent } from "./journal-ends.ts";
import { followJournal, journalPieces, readForResume } from "./read-journal.ts";
import {
  agentsFolder,
  commandsFolder,
  documentFile,
  leasesFile,
  localPlace,
  runFolder,
  runsFolder,
  STARTING_FILE,
} from "./layout.ts";
import { leaseFile } from "../leases/lease-file.ts";
import { openResults } from "./recorded-results.ts";
import { createOutputFiles } from "./output-files.ts";
import { isElsewhereOwner, isTakenOver, ownerOf } from "./run-claim.ts";
import { RUN_ID } from "./run-id.ts";
import { createWorkspaceLeases } from "../leases/workspace-leases.ts";

/** The maximum length of a file name: file systems refuse longer names. */
const LONGEST_ID = 100;

/**
 * Stores runs below a home folder: one folder each, never in the workspace. `disk`: the file system for journals and
 * outputs.
 */
export function createFolderStore(home: string, disk: Disk = machineDisk): RunStore {
  const folderOf = (run: string): string => {
    // An id given by a caller must be the name of one file in the folder of runs.
    if (run === "" || run.length > LONGEST_ID || /^\.|[/\\\u0000]/.test(run)) throw unknown(run);
    return runFolder(home, run);
  };
  const list = async (): Promise<string[]> => {
    const names = await readdir(runsFolder(home)).catch(() => []);
    const dated = await Promise.all(
      names
        .filter((name) => RUN_ID.test(name))
        .map(async (name) => ({ name, at: (await stat(folderOf(name)).catch(() => undefined))?.mtimeMs ?? 0 })),
    );
    return dated.toSorted((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
  };
  const starting = (run: string): string => join(folderOf(run), STARTING_FILE);
  const agents = openHashedTexts(agentsFolder(home), disk);
  const commands = new CommandFolder(commandsFolder(home), async (run) => !(await isTakenOver(folderOf(run))));
  const outputs = createOutputFiles(folderOf, (run) => eventsOf(folderOf(run)), disk);
  return {
    list,
    first: async (run) => firstEvent(folderOf(run)),
    last: async (run) => lastEvent(folderOf(run)),
    read: async function* (run, after = 0) {
      try {
        for await (const { events, damage, tornBytes } of journalPieces(folderOf(run)))
          yield {
            events: after === 0 ? events : events.filter(({ seq }) => seq > after),
            damage: damage.map(damageText),
            tornBytes,
          };
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
    place: folderOf,
    open: async (run, listener, { known, ...how } = {}) => {
      const options = { ...how, disk, known: known && isOwn(known) ? known : undefined };
      const journal = await openJournal(folderOf(run), listener, options).catch((error: unknown) => {
        removeEmpty(folderOf(run)); // the folder is empty if it was just created
        throw error;
      });
      const close = async (): Promise<void> => {
        await journal.close();
        // Synchronous, like the rest of a journal that does not wait for the disk.
        if (journal.neverBegan()) rmSync(folderOf(run), { recursive: true, force: true });
      };
      return { ...journal, close: () => close().finally(() => outputs.forget(run)) };
    },
    owner: async (run) => ownerOf(folderOf(run)),
    announce: async (run) => {
      const withdraw = async (): Promise<void> => {
        await rm(starting(run), { force: true });
        removeEmpty(folderOf(run)); // only the folder of a run that never started is empty
      };
      try {
        await mkdir(folderOf(run), { recursive: true, mode: 0o700 });
        fault("place.take");
        await writeFile(starting(run), JSON.stringify(await whoWeAre()), { flag: WRITE_FLAGS, mode: 0o600 });
      } catch (error) {
        await withdraw().catch(() => {});
        throw isCrewError(error) ? error : cannotRecord(folderOf(run), error);
      }
      return async () => {
        fault("place.leave");
        await withdraw();
      };
    },
    isAnnounced: async (run) => {
      const living = await livingClaim(starting(run));
      return living !== undefined && living.host === undefined; // processes of other machines are not counted
    },
    post: async (run, command, options) => {
      folderOf(run); // refuses an id that cannot be part of a file name
      return commands.post(run, command, options);
    },
    waiting: (run) => commands.waiting(run),
    serve: (run, handle, signal) => commands.serve(run, handle, signal),
    keep: outputs.keep,
    share: async () => {}, // nothing to do: the files of this machine already are the store
    recorded: outputs.recorded,
    output: outputs.output,
    file: outputs.file,
    hasFile: outputs.hasFile,
    local: (run, what) => localPlace(folderOf(run), what),
    document: async (run, name) => readRegularText(documentFile(folderOf(run), name)).catch(() => undefined),
    setDocument: async (run, name, text) => writeAtomic(documentFile(folderOf(run), name), text),
    keepAgents: async (_run, texts) => agents.keep(texts),
    agentTexts: agents.read,
    lease: createWorkspaceLeases(
      leaseFile(leasesFile(home), async (run) => isElsewhereOwner(await ownerOf(folderOf(run)))),
    ),
    reusable: openResults(home),
    remove: async (run) => {
      const folder = folderOf(run);
      // The folder is renamed first, so that a partly deleted run is never listed.
      const gone = join(runsFolder(home), `.gone-${run}`);
      await rm(gone, { recursive: true, force: true });
      await rename(folder, gone);
      await commands.remove(run);
      await rm(gone, { recursive: true, force: true });
    },
    sweep: async () => {
      const begins = await Promise.all((await list()).map(async (run) => (await firstEvent(folderOf(run)))?.at ?? 0));
      await agents.sweep(Math.min(Date.now(), ...begins));
      await commands.sweep(async (run) => disk.existsSync(folderOf(run)));
    },
  };
}

async function* eventsOf(folder: string): AsyncGenerator<readonly KeptEvent[]> {
  for await (const { events } of journalPieces(folder)) yield events;
}

/** True for records that were read from a folder store, which know their offsets. */
const isOwn = (known: KeptRecords): known is JournalContents => "wholeBytes" in known;

/** The error for a run without a journal: it is unknown. Other errors are returned unchanged. */
function missing(run: string, error: unknown): unknown {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  return isMissing ? unknown(run) : error;
}

const unknown = (run: string): CrewError =>
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

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {} // the folder has content, or does not exist
}
