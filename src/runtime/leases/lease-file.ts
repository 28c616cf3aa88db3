import { rename, writeFile } from "node:fs/promises";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { alone } from "../disk/file-lock.ts";
import { claimIn, isElsewhere, isLiving, isNeighbor, type ProcessClaim, whoWeAre } from "../disk/process-claim.ts";
import { readRegularText } from "../disk/regular-file.ts";
import type { LeaseEntry, LeaseTable } from "./workspace-leases.ts";

/** An entry of the lease file with the process that made it. */
type SignedEntry = LeaseEntry & Readonly<{ claim: ProcessClaim }>;

/** How long to wait while another process changes the file. */
const LOCKED_MS = 10_000;

/**
 * The leases (files that tasks declare to write) of all runs of this machine, in one file. It is not synced to the
 * disk, because after a power cut no process that holds a lease is alive. `isOwned`: whether a process of another
 * machine or pid namespace still works on a run.
 */
export function leaseFile(file: string, isOwned: (run: string) => Promise<boolean>): LeaseTable<SignedEntry> {
  const read = async (): Promise<SignedEntry[]> => {
    const entries = entriesIn(await readRegularText(file).catch(() => "[]"));
    const live = await Promise.all(
      entries.map(async ({ claim, run }) =>
        isElsewhere(claim) || (await isNeighbor(claim)) ? isOwned(run) : isLiving(claim),
      ),
    );
    return entries.filter((_, at) => live[at]);
  };
  return {
    read,
    change: (make) =>
      alone(
        `${file}.lock`,
        async () => {
          const draft = `${file}.draft`; // only the process that holds the lock writes this file
          await writeFile(draft, JSON.stringify(make(await read())), { mode: 0o600 });
          await rename(draft, file);
        },
        AbortSignal.timeout(LOCKED_MS),
      ),
    sign: async (entry) => ({ ...entry, claim: await whoWeAre() }),
  };
}

/** The entries of the file. Unreadable entries are left out, so that no task waits for a damaged line. */
function entriesIn(text: string): SignedEntry[] {
  try {
    const entries: unknown = parseJson(text);
    return Array.isArray(entries) ? entries.flatMap((entry) => signedEntry(entry) ?? []) : [];
  } catch {
    return [];
  }
}

function signedEntry(entry: unknown): SignedEntry | undefined {
  if (!isRecord(entry)) return undefined;
  const { id, workspace, run, of, globs, above = [], held, claim } = entry;
  const signed = claimIn(JSON.stringify(claim));
  if (![id, workspace, run, of].every((word) => typeof word === "string")) return undefined;
  if (!signed || !isList(globs) || !isList(above)) return undefined;
  return { id, workspace, run, of, globs, above, held: held === true, claim: signed } as SignedEntry;
}

const isList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((word) => typeof word === "string");
