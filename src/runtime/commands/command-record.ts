import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { readRegularText } from "../disk/regular-file.ts";
import type { Rule } from "../../core/rules/rule.ts";
import { isRecord } from "../../core/text/json.ts";
import { type RunClaim, whoWeAre } from "../disk/run-claim.ts";
import { makeFolder } from "../disk/sync-folder.ts";
import { writeAtomic } from "../disk/write-atomic.ts";
import type { ScannedRoot } from "../files/protected-scan.ts";
import type { QuarantinedFile } from "../files/quarantine.ts";
import type { RawPath } from "../files/raw-path.ts";

/** A folder that a command may write, and what rules call it. */
export type GuardedRoot = ScannedRoot & Readonly<{ named: string }>;

/**
 * What has to be known to finish the quarantine of a command whose process is gone: where it could write, and what was there
 * before.
 */
export type CommandNote = Readonly<{
  run: string;
  /** What is in the environment of everything that the command started. */
  marker: string;
  roots: readonly GuardedRoot[];
  /** Rules that may open protected places. */
  allow: readonly Rule[];
  existing: readonly RawPath[];
  links: readonly Readonly<{ path: RawPath; target?: RawPath }>[];
  watched: readonly (readonly [path: RawPath, fingerprint: string])[];
}>;

/** The same with the process that runs the command; `done`: what its watchdog has set aside, for the next process to tell. */
export type CommandRecord = CommandNote & RunClaim & Readonly<{ version: 1; done?: readonly QuarantinedFile[] }>;

/** Where the records of commands in flight are, below the state folder. */
export const recordsIn = (state: string): string => join(state, "commands-in-flight");

/** Writes down that a command is about to start; it is on the disk when this resolves. */
export async function writeCommandRecord(file: string, note: CommandNote): Promise<void> {
  await makeFolder(dirname(file));
  await writeAtomic(file, JSON.stringify({ version: 1, ...(await whoWeAre()), ...note }));
}

/** Adds what was set aside to a record. */
export async function finishCommandRecord(
  file: string,
  record: CommandRecord,
  done: readonly QuarantinedFile[],
): Promise<void> {
  await writeAtomic(file, JSON.stringify({ ...record, done }));
}

/** A record as it was written; `undefined` when it is gone or is none. */
export async function readCommandRecord(file: string): Promise<CommandRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readRegularText(file));
    return isRecord(value) && value["version"] === 1 && LISTS.every((key) => Array.isArray(value[key]))
      ? (value as CommandRecord)
      : undefined;
  } catch {
    return undefined;
  }
}

const LISTS = ["roots", "allow", "existing", "links", "watched"] as const;

export const removeCommandRecord = (file: string): void => rmSync(file, { force: true });

/** The records in a folder. Asked before each command, so without waiting. */
export function recordFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => RECORD.test(name))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

const RECORD = /^[0-9a-f]{16}\.json$/;
