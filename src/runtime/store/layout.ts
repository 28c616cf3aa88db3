import { join } from "node:path";
import type { LocalPlace, OutputKind, RunDocument } from "../../core/run/run-store.ts";
import { filePathOf } from "./file-path.ts";

/** The name of the journal in the folder of a run. */
export const JOURNAL_FILE = "journal.jsonl";

/**
 * The name of the file that says which process is about to start a background run, until the run's own process owns it.
 */
export const STARTING_FILE = "starting.json";

const OUTPUTS_FOLDER = "outputs";
const RESULT_FILE = "output.md";

/** The folder of a run below a home folder. */
export const runFolder = (home: string, run: string): string => join(home, "runs", run);

/** The folder of all runs. */
export const runsFolder = (home: string): string => join(home, "runs");

/** The folder of the commands to all runs and their receipts. */
export const commandsFolder = (home: string): string => join(home, "run-commands");

/** The folder of the definitions of agents that runs carry, one file each, named by the hash of its text. */
export const agentsFolder = (home: string): string => join(home, "run-agents");

/** The file with the leases (files to write) of all runs. */
export const leasesFile = (home: string): string => join(home, "leases.json");

const places: Readonly<Record<LocalPlace, string>> = {
  outputs: OUTPUTS_FOLDER,
  worktrees: "worktrees",
  versions: "versions",
  log: "background.log",
};

/** The path of a file of a run that is used only on this machine. */
export const localPlace = (folder: string, what: LocalPlace): string => join(folder, places[what]);

const endings: Readonly<Record<OutputKind, string>> = {
  output: ".md",
  patch: ".patch",
  dirty: ".dirty",
  bundle: ".bundle",
  progress: ".progress",
  files: ".files",
};

/** The file of a stored text; the text of the run itself is stored beside the journal. */
export function outputFileOf(folder: string, path: string, kind: OutputKind): string {
  return path === "" ? join(folder, RESULT_FILE) : join(folder, OUTPUTS_FOLDER, `${filePathOf(path)}${endings[kind]}`);
}

export const documentFile = (folder: string, name: RunDocument): string => join(folder, `${name}.json`);
