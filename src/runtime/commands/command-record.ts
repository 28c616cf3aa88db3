import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { readRegularText } from "../disk/regular-file.ts";
import type { Rule } from "../../core/rules/rule.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { socketOf } from "../disk/life-socket.ts";
import { type ProcessClaim, whoWeAre } from "../disk/process-claim.ts";
import { makeFolder } from "../disk/sync-folder.ts";
import { writeAtomic } from "../disk/write-atomic.ts";
import type { ScannedRoot } from "../files/protected-scan.ts";
import type { QuarantinedFile } from "../files/quarantine.ts";
import type { RawPath } from "../files/raw-path.ts";

/** A folder that a command may write, and its name in permission rules. */
export type GuardedRoot = ScannedRoot & Readonly<{ named: string }>;

/**
 * The record of a running command. After a crash it is needed to move protected files that the command created to
 * quarantine. It states where the command could write, and which files existed before.
 */
export type CommandNote = Readonly<{
  run: string;
  /** The marker in the environment of every process that the command started. */
  marker: string;
  roots: readonly GuardedRoot[];
  /** Permission rules that may allow protected paths. */
  allow: readonly Rule[];
  existing: readonly RawPath[];
  /** New protected folders in which a tool was allowed to write a file; absent: none. */
  shared?: readonly RawPath[];
  links: readonly Readonly<{ path: RawPath; target?: RawPath }>[];
  watched: readonly (readonly [path: RawPath, fingerprint: string])[];
}>;

/**
 * The record of a command, and the subcrew process that runs the command. `done`: files that its watchdog has
 * quarantined, to be reported by the next process.
 */
export type CommandRecord = CommandNote & ProcessClaim & Readonly<{ version: 1; done?: readonly QuarantinedFile[] }>;

/** The folder of records of running commands, below the state folder. */
export const recordsIn = (state: string): string => join(state, "commands-in-flight");

/** Records that a command is about to start; when this resolves, the record is safely on disk. */
export async function writeCommandRecord(file: string, note: CommandNote): Promise<void> {
  await (await makeFolder(dirname(file)))?.durable;
  await writeAtomic(file, JSON.stringify({ version: 1, ...(await whoWeAre()), ...note }));
}

/** Adds quarantined files to a record. */
export async function finishCommandRecord(
  file: string,
  record: CommandRecord,
  done: readonly QuarantinedFile[],
): Promise<void> {
  await writeAtomic(file, JSON.stringify({ ...record, done }));
}

/** Reads a record; `undefined` when it is missing or invalid. */
export async function readCommandRecord(file: string): Promise<CommandRecord | undefined> {
  try {
    const value: unknown = parseJson(await readRegularText(file));
    return isRecord(value) && value["version"] === 1 && LISTS.every((key) => Array.isArray(value[key]))
      ? (value as CommandRecord)
      : undefined;
  } catch {
    return undefined;
  }
}

const LISTS = ["roots", "allow", "existing", "links", "watched"] as const;

/** Deletes a record. It is synchronous, because on a busy machine an asynchronous call waits for a free thread. */
export function removeCommandRecord(file: string): void {
  rmSync(file, { force: true });
  rmSync(socketOf(file), { force: true });
}

/** The records in a folder. It is synchronous, because it is called before each command. */
export function recordFiles(folder: string): string[] {
  if (!existsSync(folder)) return []; // no command has been recorded yet
  try {
    return readdirSync(folder)
      .filter((name) => RECORD.test(name))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

const RECORD = /^[0-9a-f]{16}\.json$/;
