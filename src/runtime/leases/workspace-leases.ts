import { randomBytes } from "node:crypto";
import { blockersOf, grantable, type LeaseWish, leaseAbove, patternsBelow } from "../../core/rules/lease.ts";
import type { LeaseBlocker, LeaseOptions, WorkspaceLease, WorkspaceLeases } from "../../core/run/run-store.ts";
import { defined } from "../../core/text/defined.ts";
import { pause } from "../async/cancel.ts";

/** A lease (the files that a task declares to write) that is held or waited for. */
export type LeaseEntry = WorkspaceLease & Readonly<{ id: string; held: boolean }>;

/** The list of the leases of all runs, oldest first. */
export type LeaseTable<E extends LeaseEntry> = Readonly<{
  /** The entries of living processes. */
  read(): Promise<readonly E[]>;
  /** Replaces the entries of living processes by the result of the function, while other processes are locked out. */
  change(make: (entries: readonly E[]) => readonly E[]): Promise<void>;
  /** Adds the identity of this process to an entry. */
  sign(entry: LeaseEntry): Promise<E>;
}>;

/** How often a waiting task checks whether its lease is free. */
const LOOK_EVERY_MS = 100;

/** Grants leases that are stored in a table, which other processes share. */
export function createWorkspaceLeases<E extends LeaseEntry>(table: LeaseTable<E>): WorkspaceLeases["lease"] {
  return async (wish, { waits, signal }: LeaseOptions) => {
    const id = randomBytes(8).toString("hex");
    const own = await table.sign({ ...wish, id, held: false });
    const leave = (): Promise<void> => table.change((all) => all.filter((each) => each.id !== id));
    let told = "[]";
    let isFree = true;
    try {
      for (; !signal.aborted; await pause(LOOK_EVERY_MS, signal)) {
        // Many tasks may wait, so the table is locked only for the first check and again when the lease seems free.
        if (isFree) {
          await table.change((all) => {
            const known = all.some((each) => each.id === id) ? all : [...all, own];
            isFree = isGrantable(known, id);
            return isFree ? known.map((each) => (each.id === id ? { ...each, held: true } : each)) : known;
          });
          if (isFree) {
            if (!signal.aborted) return leave;
            break;
          }
        }
        const entries = await table.read();
        isFree = isGrantable(entries, id);
        const blockers = blockersIn(entries, own);
        const text = JSON.stringify(blockers);
        if (text !== told && !isFree && !signal.aborted) waits(blockers);
        told = text;
      }
    } catch (error) {
      await leave().catch(() => {});
      throw error;
    }
    await leave();
    return undefined;
  };
}

type Wish = LeaseWish & Readonly<{ entry: LeaseEntry }>;

/**
 * The entries in the form in which overlaps are checked: a nested run works within the lease of the task that started
 * it.
 */
function wishesOf(entries: readonly LeaseEntry[]): Wish[] {
  const plain = entries.map((entry) => ({
    of: `${entry.run}/${entry.of}`,
    globs: patternsBelow(entry.workspace, entry.globs),
    entry,
  }));
  const held = plain.filter(({ entry }) => entry.held);
  return plain.map((wish) => {
    const under = (wish.entry.above ?? []).map((task) => leaseAbove(held, `${task}/`)).find((of) => of !== undefined);
    return { ...wish, ...defined({ under }) };
  });
}

function isGrantable(entries: readonly LeaseEntry[], id: string): boolean {
  const wishes = wishesOf(entries);
  const [held, waiting] = [true, false].map((is) => wishes.filter(({ entry }) => entry.held === is));
  return (
    !waiting!.some(({ entry }) => entry.id === id) || grantable(held!, waiting!).some((one) => one.entry.id === id)
  );
}

function blockersIn(entries: readonly LeaseEntry[], { id, workspace, run }: LeaseEntry): LeaseBlocker[] {
  const wishes = wishesOf(entries);
  const at = wishes.findIndex(({ entry }) => entry.id === id);
  const before = wishes.filter(({ entry }, index) => entry.id !== id && (entry.held || index < at));
  const wish = wishes[at];
  return before.flatMap((other) =>
    blockersOf(wish ?? other, wish ? [other] : []).map(({ files }) => ({
      task: other.entry.of,
      files: files.map((file) => (file.startsWith(`${workspace}/`) ? file.slice(workspace.length + 1) : file)),
      ...(other.entry.run !== run && { run: other.entry.run }),
    })),
  );
}
