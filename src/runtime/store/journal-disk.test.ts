import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { encodeLine } from "../../../test/support/encode-line.ts";
import { diskWith, note, openedJournal, writtenJournal } from "../../../test/support/journal-notes.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { armFaults } from "../disk/fault-points.ts";
import type { DiskFile } from "../disk/open-file.ts";
import { openJournal } from "./journal.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { readForResume, readJournal } from "./read-journal.ts";

const ignoring = { kept: (): void => {}, lost: (): void => {} };
const seqsIn = async (folder: string): Promise<number[]> => (await readJournal(folder)).events.map(({ seq }) => seq);

test("opening a journal syncs the records of an earlier writer; an empty journal is not synced", async () => {
  const folder = tempFolder();
  let syncs = 0;
  const disk = diskWith((file) => ({ sync: () => file.sync().finally(() => (syncs += 1)) }));
  await (await openJournal(folder, ignoring, { disk })).close();
  expect(syncs).toBe(0);
  await writtenJournal(folder, 2);
  await (await openJournal(folder, ignoring, { disk })).close();
  expect(syncs).toBe(1);
});

test("a journal that was read and has not changed since is not read again when it is opened", async () => {
  const folder = tempFolder();
  await writtenJournal(folder, 2);
  let reads = 0;
  const disk: Disk = {
    ...machineDisk,
    openToRead: (path) => {
      reads += 1;
      return machineDisk.openToRead(path);
    },
  };
  const known = await readForResume(folder);
  const journal = await openJournal(folder, ignoring, { disk, known });
  expect(await journal.read()).toEqual([note(1), note(2)]);
  await journal.close();
  expect(reads).toBe(0);
});

test("records whose sync failed are cut off before the failure is reported, and nothing more is written", async () => {
  const folder = tempFolder();
  const kept: KeptEvent[] = [];
  const lost: Error[] = [];
  let fails = false;
  let cut = false;
  const disk = diskWith((file) => ({
    datasync: () => (fails ? Promise.reject(new Error("no space is left")) : file.datasync()),
    truncate: async (length) => {
      for (let turn = 0; turn < 10; turn += 1) await setImmediate(); // simulates a slow disk
      await file.truncate(length);
      cut = true;
    },
  }));
  const journal = await openJournal(
    folder,
    { kept: (events) => kept.push(...events), lost: (error) => lost.push(error) },
    { disk },
  );
  journal.append(note(1));
  await journal.durable();
  fails = true;
  journal.append(note(2));
  await expect(journal.durable()).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
  expect(cut).toBe(true);
  expect(await seqsIn(folder)).toEqual([1]);

  fails = false;
  journal.append(note(3));
  journal.hasten?.();
  await expect(journal.durable()).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
  expect([kept, lost.length, await seqsIn(folder)]).toEqual([[note(1)], 1, [1]]);
  await journal.close();
});

test("a closed journal has released its claim", async () => {
  const folder = tempFolder();
  const { journal } = await openedJournal(folder);
  expect(readdirSync(folder)).toContain("owner.1.json");
  await journal.close();
  expect(readdirSync(folder)).toContain("released.1.json");
  expect(readdirSync(folder)).not.toContain("owner.1.json");
});

/**
 * A disk whose calls take a turn of the event loop. `done` gets each call on the journal and its folder when it ends,
 * and each call that begins while another one is running.
 */
function slowDisk(folder: string, done: string[]): Disk {
  let running: string | undefined;
  const begin = (name: string): void => {
    if (running !== undefined) done.push(`${name} during ${running}`);
  };
  const slow =
    <A extends unknown[], R>(name: string, act: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      begin(name);
      running = name;
      await setImmediate();
      return act(...given).finally(() => {
        running = undefined;
        done.push(name);
      });
    };
  const list = (...given: Parameters<Disk["readdir"]>): unknown => {
    begin("list");
    return machineDisk.readdir(...given);
  };
  return {
    ...machineDisk,
    readdir: list as Disk["readdir"],
    rename: slow("release the claim", machineDisk.rename),
    rm: async (path, how) =>
      path.includes("outputs") ? slow("delete", machineDisk.rm)(path, how) : machineDisk.rm(path, how),
    open: async (path, ...given) => {
      const file = await machineDisk.open(path, ...given);
      if (path === folder)
        return {
          ...file,
          sync: () =>
            setImmediate()
              .then(file.sync)
              .finally(() => done.push("sync the folder")),
        };
      if (!path.endsWith(JOURNAL_FILE)) return file;
      done.push("open");
      return {
        ...file,
        write: slow("write", file.write),
        datasync: slow("datasync", file.datasync),
        sync: slow("sync", file.sync),
        truncate: slow("cut", file.truncate),
        close: slow("close", file.close),
      };
    },
  };
}

describe("each step of opening a journal waits for the step before it", () => {
  test("in a new folder: its sync ends before the first record is reported", async () => {
    const folder = join(tempFolder(), "new");
    const done: string[] = [];
    const listener = { kept: () => void done.push("kept"), lost: () => {} };
    const journal = await openJournal(folder, listener, { disk: slowDisk(folder, done) });
    expect(done.splice(0)).toEqual(["open"]);
    journal.append(note(1));
    await journal.close();
    expect(done).toHaveLength(6);
    expect(done).toContain("sync the folder");
    expect(done.filter((name) => name !== "sync the folder")).toEqual([
      "write",
      "datasync",
      "kept",
      "close",
      "release the claim",
    ]);
    expect(statSync(join(folder, JOURNAL_FILE)).mode & 0o777).toBe(0o600);
  });

  test("in a journal with an incomplete end and lost claim files: the journal is released, closed, and claimed again", async () => {
    const folder = tempFolder({
      [JOURNAL_FILE]: `${encodeLine(note(1), 1)}{`,
      "outputs/.0123456789abcdef.tmp": "half",
    });
    const done: string[] = [];
    const journal = await openJournal(folder, ignoring, { disk: slowDisk(folder, done), sole: true });
    expect(done).toEqual([
      ...["delete", "open", "sync the folder", "cut", "sync"],
      ...["release the claim", "close", "open", "sync the folder", "sync"],
    ]);
    expect(JSON.parse(readFileSync(join(folder, "owner.2.json"), "utf8"))).toMatchObject({ sole: true });
    expect(journal.problems).toHaveLength(1);
    expect(await journal.read()).toEqual([note(1)]);
    journal.append(note(2));
    await journal.durable();
    expect(await journal.read()).toEqual([note(1), note(2)]);
    await journal.close();
  });

  test("in a damaged journal: the journal is closed and released", async () => {
    const folder = tempFolder({ [JOURNAL_FILE]: `x\n${encodeLine(note(1), 1)}` });
    const done: string[] = [];
    const opening = openJournal(folder, ignoring, { disk: slowDisk(folder, done) });
    await expect(opening).rejects.toMatchObject({ code: "RUN_DAMAGED" });
    expect(done).toEqual(["open", "close", "release the claim"]);
  });
});

test("a journal that cannot be opened leaves no claim and no open file", async () => {
  const full = (): Promise<never> => Promise.reject(new Error("too many files"));
  for (const folder of [tempFolder(), join(tempFolder(), "new")]) {
    const done: string[] = [];
    const disk = { ...slowDisk(folder, done), open: full };
    await expect(openJournal(folder, ignoring, { disk })).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
    expect(done).toEqual(["release the claim"]);
  }
  const folder = tempFolder({ "outputs/.0123456789abcdef.tmp": "half" });
  const done: string[] = [];
  const disk = slowDisk(folder, done);
  const rm: Disk["rm"] = (path, how) =>
    path.includes("outputs") ? Promise.reject(new Error("it is locked")) : disk.rm(path, how);
  await expect(openJournal(folder, ignoring, { disk: { ...disk, rm } })).rejects.toMatchObject({
    code: "STATE_UNWRITABLE",
  });
  expect(done).toEqual(["release the claim"]);
});

test("the claim of a run records whether its process serves only this run, in a new folder and in an old one", async () => {
  for (const folder of [join(tempFolder(), "new"), tempFolder()]) {
    const journal = await openJournal(folder, ignoring, { sole: true });
    expect(JSON.parse(readFileSync(join(folder, "owner.1.json"), "utf8"))).toMatchObject({ sole: true });
    await journal.close();
  }
});

test("the points at which tests inject a fault are passed in this order", async () => {
  const folder = join(tempFolder(), "new");
  const trace = join(tempFolder(), "trace");
  onTestFinished(() => armFaults(undefined));
  const passed = async (): Promise<string[]> => {
    armFaults(`trace@${trace}`);
    writeFileSync(trace, "");
    const { journal } = await openedJournal(folder);
    journal.append(note(1));
    await journal.close();
    armFaults(undefined);
    return readFileSync(trace, "utf8").split("\n").slice(0, -1);
  };
  const written = ["journal.write", "journal.written", "journal.synced", "owner.release"];
  const claimed = ["run.folder", "owner.claim", "owner.drafted", "owner.claimed", "journal.open"];
  expect(await passed()).toEqual(["run.folder", "owner.claim", "owner.claimed", "journal.open", ...written]);
  writeFileSync(join(folder, JOURNAL_FILE), "");
  expect(await passed()).toEqual([...claimed, ...written]);
  writeFileSync(join(folder, JOURNAL_FILE), "{");
  expect(await passed()).toEqual([...claimed, "journal.cut", ...written]);
});

test("an incomplete end is cut off and the cut is synced, however long it is", async () => {
  for (const [text, events] of [
    ["{", []],
    [`${encodeLine(note(1), 1)}${"\0".repeat(4096)}`, [note(1)]],
  ] as const) {
    const folder = tempFolder({ [JOURNAL_FILE]: text });
    let syncs = 0;
    const disk = diskWith((file) => ({ sync: () => file.sync().finally(() => (syncs += 1)) }));
    // an earlier epoch is known, so the first claim is already high enough and is not repeated
    const known = { ...(await readForResume(folder)), epoch: 7 };
    const journal = await openJournal(folder, ignoring, { disk, known });
    expect(await journal.read()).toEqual(events);
    await journal.close();
    expect(syncs).toBe(1);
    expect(readFileSync(join(folder, JOURNAL_FILE), "utf8")).toBe(events.map((event) => encodeLine(event, 1)).join(""));
  }
});

test("a journal that has grown since it was read is read again when it is opened", async () => {
  const folder = tempFolder();
  const file = await writtenJournal(folder, 2);
  const known = await readForResume(folder);
  appendFileSync(file, encodeLine(note(3), 1));
  const journal = await openJournal(folder, ignoring, { known });
  expect(await journal.read()).toEqual([note(1), note(2), note(3)]);
  await journal.close();
});

describe("a disk that takes only a part of a write", () => {
  /** Takes one byte at a time; `taken` is called after each. */
  const bytewise = (taken: () => void = () => {}): Disk =>
    diskWith((file) => ({
      write: (bytes, offset) => file.write(bytes.subarray(0, offset + 1), offset).finally(taken),
      writeSync: (bytes, offset) => {
        const written = file.writeSync!(bytes.subarray(0, offset + 1), offset);
        taken();
        return written;
      },
    }));

  test("gets the rest of the data with the next writes", async () => {
    const folder = tempFolder();
    const journal = await openJournal(folder, ignoring, { disk: bytewise() });
    journal.append(note(1));
    await journal.durable();
    journal.append(note(2));
    journal.hasten?.();
    await journal.close();
    expect(await seqsIn(folder)).toEqual([1, 2]);
  });

  test.each([false, true])(
    "gets no more data once another process has taken over the run (with `hasten`: %s)",
    async (hastened) => {
      const folder = tempFolder();
      const journal = await openJournal(folder, ignoring, {
        disk: bytewise(() => writeFileSync(join(folder, "owner.2.json"), "{}")),
      });
      journal.append(note(1));
      if (hastened) journal.hasten?.();
      await expect(journal.durable()).rejects.toMatchObject({ code: "RUN_BUSY" });
      expect(readFileSync(join(folder, JOURNAL_FILE), "utf8")).toBe("{");
      await journal.close();
    },
  );

  test.each([false, true])("fails the journal when it takes nothing at all (with `hasten`: %s)", async (hastened) => {
    const folder = tempFolder();
    const disk = diskWith(() => ({ write: async () => ({ bytesWritten: 0 }), writeSync: () => 0 }));
    const { journal, lost } = await openedJournal(folder, { disk });
    journal.append(note(1));
    if (hastened) journal.hasten?.();
    const error = { code: "STATE_UNWRITABLE", message: expect.stringContaining("nothing more could be written") };
    await expect(journal.durable()).rejects.toMatchObject(error);
    expect(lost).toMatchObject([error]);
    await journal.close();
  });
});

test("a journal whose last newline cannot be written is not opened", async () => {
  const folder = tempFolder({ [JOURNAL_FILE]: encodeLine(note(1), 1).trimEnd() });
  const disk = diskWith(() => ({ write: async () => ({ bytesWritten: 0 }) }));
  await expect(openJournal(folder, ignoring, { disk })).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
});

describe("a write that fails", () => {
  const file = (folder: string): string => readFileSync(join(folder, JOURNAL_FILE), "utf8");
  /** Appends a record to a journal whose sync fails, after `meanwhile`. */
  const failedWrite = async (folder: string, meanwhile: () => void, more: Partial<DiskFile> = {}): Promise<void> => {
    const disk = diskWith(() => ({
      datasync: async () => {
        meanwhile();
        throw new Error("no space is left");
      },
      ...more,
    }));
    const { journal } = await openedJournal(folder, { disk });
    journal.append(note(2));
    await expect(journal.durable()).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
    await journal.close();
  };

  test("leaves an empty journal in a new folder", async () => {
    const folder = join(tempFolder(), "new");
    await failedWrite(folder, () => {});
    expect(file(folder)).toBe("");
  });

  test("leaves the records before it, also where their last newline was missing", async () => {
    const folder = tempFolder({ [JOURNAL_FILE]: encodeLine(note(1), 1).trimEnd() });
    await failedWrite(folder, () => {});
    expect(file(folder)).toBe(encodeLine(note(1), 1));
  });

  test("is not cut off when another process owns the run or has written after the failed write", async () => {
    const taken = tempFolder();
    await failedWrite(taken, () => writeFileSync(join(taken, "owner.2.json"), "{}"));
    expect(file(taken)).toBe(encodeLine(note(2), 1));
    const longer = tempFolder();
    await failedWrite(longer, () => appendFileSync(join(longer, JOURNAL_FILE), "x"));
    expect(file(longer)).toBe(`${encodeLine(note(2), 1)}x`);
  });

  test("is not cut off when nothing was written", async () => {
    let cuts = 0;
    const disk = diskWith(() => ({
      write: () => Promise.reject(new Error("no space is left")),
      truncate: async () => void (cuts += 1),
    }));
    const { journal } = await openedJournal(tempFolder(), { disk });
    journal.append(note(1));
    await expect(journal.durable()).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
    await journal.close();
    expect(cuts).toBe(0);
  });
});

test("records are not reported as stored if another process learns of them during their sync", async () => {
  const folder = tempFolder();
  const disk = diskWith((file) => ({
    datasync: async () => {
      await file.datasync();
      writeFileSync(join(folder, "owner.2.json"), "{}");
    },
  }));
  const { journal, kept } = await openedJournal(folder, { disk });
  journal.append(note(1));
  await expect(journal.durable()).rejects.toMatchObject({ code: "RUN_BUSY" });
  expect(kept).toEqual([]);
  await journal.close();
});

test("a new folder that cannot be synced is reported with the first record, not earlier", async () => {
  const rejected: unknown[] = [];
  const reject = (reason: unknown): unknown => rejected.push(reason);
  process.on("unhandledRejection", reject);
  onTestFinished(() => void process.off("unhandledRejection", reject));
  const folder = join(tempFolder(), "new");
  const disk: Disk = {
    ...machineDisk,
    open: async (path, ...given) => {
      const file = await machineDisk.open(path, ...given);
      return path === folder ? { ...file, sync: () => Promise.reject(new Error("the disk is gone")) } : file;
    },
  };
  const { journal, kept } = await openedJournal(folder, { disk });
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  expect(rejected).toEqual([]);
  journal.append(note(1));
  await expect(journal.durable()).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
  expect(kept).toEqual([]);
  await journal.close();
});
