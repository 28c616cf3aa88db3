import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { diskWith, note, openedJournal } from "../../../test/support/journal-notes.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { DiskFile } from "../disk/open-file.ts";
import { openJournal } from "./journal.ts";

describe("batches", () => {
  /** A journal on a disk that syncs at once, and the numbers of the records of each batch. */
  async function batched(synced: () => void = () => {}) {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const batches: number[][] = [];
    const listener = {
      kept: (events: readonly KeptEvent[]) => void batches.push(events.map(({ seq }) => seq)),
      lost: () => {},
    };
    const disk = diskWith(() => ({ datasync: () => setImmediate().then(synced) }));
    return { journal: await openJournal(tempFolder(), listener, { disk }), batches };
  }
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  };

  test("without a waiting caller, the first event is written at once, and the events of the next 5 ms together", async () => {
    const { journal, batches } = await batched();
    journal.append(note(1));
    await turns();
    expect(batches).toEqual([[1]]);
    journal.append(note(2));
    vi.advanceTimersByTime(4);
    await turns();
    journal.append(note(3));
    await turns();
    expect(batches).toEqual([[1]]);
    vi.advanceTimersByTime(1);
    await turns();
    expect(batches).toEqual([[1], [2, 3]]);
    vi.advanceTimersByTime(4);
    journal.append(note(4));
    await turns();
    expect(batches).toHaveLength(2);
    vi.advanceTimersByTime(1);
    await turns();
    vi.advanceTimersByTime(5);
    journal.append(note(5));
    await turns();
    expect(batches).toEqual([[1], [2, 3], [4], [5]]);
    await journal.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("an event during a sync is written 5 ms after the sync, or at once if a caller waits", async () => {
    const coming = [note(2)];
    const { journal, batches } = await batched(() => coming.splice(0).forEach((event) => journal.append(event)));
    journal.append(note(1));
    await turns();
    expect(batches).toEqual([[1]]);
    vi.advanceTimersByTime(5);
    await turns();
    expect(batches).toEqual([[1], [2]]);
    coming.push(note(4));
    journal.append(note(3));
    await journal.durable();
    expect(batches).toEqual([[1], [2], [3], [4]]);
    expect(vi.getTimerCount()).toBe(0);
    await journal.close();
  });

  test.each(["durable", "hasten"] as const)(
    "with `%s`, the waiting event is written as soon as the running sync ends, in the same turn of the event loop",
    async (how) => {
      const { journal, batches } = await batched(() => {
        if (batches.length === 0) void setImmediate().then(() => journal.append(note(3)));
      });
      journal.append(note(1));
      journal.hasten?.();
      journal.append(note(2));
      const done = journal[how]?.();
      await turns();
      await done;
      await journal.durable();
      expect(batches).toEqual([[1], [2], [3]]);
      await journal.close();
    },
  );
});

test("only a write that was requested with `hasten` is synchronous, and only if the disk supports that", async () => {
  const used: string[] = [];
  const noting = (file: DiskFile): Partial<DiskFile> => ({
    write: (...given) => (used.push("write"), file.write(...given)),
    writeSync: (...given) => (used.push("writeSync"), file.writeSync!(...given)),
  });
  const { journal } = await openedJournal(tempFolder(), { disk: diskWith(noting) });
  for (const hastened of [false, true, false]) {
    journal.append(note(1));
    if (hastened) journal.hasten?.();
    await journal.durable();
  }
  await journal.close();
  expect(used).toEqual(["write", "writeSync", "write"]);

  const plain = diskWith((file) => ({ ...noting(file), writeSync: undefined }) as unknown as Partial<DiskFile>);
  const other = await openedJournal(tempFolder(), { disk: plain });
  other.journal.append(note(1));
  other.journal.hasten?.();
  await other.journal.close();
  expect(used).toEqual(["write", "writeSync", "write", "write"]);
  expect(other.kept).toEqual([note(1)]);
});

test("`hasten` writes nothing when no event waits to be written", async () => {
  const { journal, lost } = await openedJournal(tempFolder());
  journal.hasten?.();
  await journal.durable();
  expect(lost).toEqual([]);
  await journal.close();
});
