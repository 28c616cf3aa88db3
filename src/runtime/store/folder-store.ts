import { rmSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { KeptRecords, RunStore } from "../../core/run/run-store.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { readRegularText } from "../disk/regular-file.ts";
import { openHashedTexts } from "../disk/hashed-texts.ts";
import { writeAtomic } from "../disk/write-atomic.ts";
import { CommandFolder } from "./command-folder.ts";
import { type JournalContents } from "./journal-records.ts";
import { cannotWrite, openJournal } from "./journal.ts";
import { agentsFolder, commandsFolder, documentFile, leasesFile, localPlace, runFolder, runsFolder } from "./layout.ts";
import { leaseFile } from "../leases/lease-file.ts";
import { openResults } from "./recorded-results.ts";
import { announce, isAnnounced, removeEmpty } from "./announcement.ts";
import { folderRecords, unknownRun } from "./folder-records.ts";
import { createOutputFiles } from "./output-files.ts";
import { isElsewhereOwner, isTakenOver, ownerOf } from "./run-claim.ts";
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
    if (run === "" || run.length > LONGEST_ID || /^\.|[/\\\u0000]/.test(run)) throw unknownRun(run);
    return runFolder(home, run);
  };
  const agents = openHashedTexts(agentsFolder(home), disk);
  const commands = new CommandFolder(commandsFolder(home), async (run) => !(await isTakenOver(folderOf(run))));
  const records = folderRecords(home, { folderOf, disk });
  const outputs = createOutputFiles(folderOf, records.read, disk);
  return {
    ...records,
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
    announce: async (run) => announce(folderOf(run)),
    isAnnounced: async (run) => isAnnounced(folderOf(run)),
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
    keepAgents: async (_run, texts) => agents.keep(texts).catch(cannotWrite(agentsFolder(home))),
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
      const begins = await Promise.all((await records.list()).map(async (run) => (await records.first(run))?.at ?? 0));
      await agents.sweep(Math.min(Date.now(), ...begins));
      await commands.sweep(async (run) => disk.existsSync(folderOf(run)));
    },
  };
}

/** True for records that were read from a folder store, which know their offsets. */
const isOwn = (known: KeptRecords): known is JournalContents => "wholeBytes" in known;
