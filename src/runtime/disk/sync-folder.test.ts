import { expect, test } from "vitest";
import { type Disk, machineDisk } from "./disk.ts";
import { syncFolder } from "./sync-folder.ts";

/** A disk that counts the syncs of folders, each of which ends when it is told to. */
function countingDisk(): { disk: Disk; begun: () => number; end(error?: Error): void } {
  const ends: ((error?: Error) => void)[] = [];
  let begun = 0;
  const disk: Disk = {
    ...machineDisk,
    open: async () => ({
      write: () => Promise.reject(new Error("a folder")),
      truncate: () => Promise.reject(new Error("a folder")),
      stat: () => Promise.reject(new Error("a folder")),
      datasync: () => Promise.resolve(),
      sync: () => {
        begun += 1;
        return new Promise((resolve, reject) => {
          ends.push((error) => (error ? reject(error) : resolve()));
        });
      },
      close: () => Promise.resolve(),
    }),
  };
  return { disk, begun: () => begun, end: (error) => ends.shift()?.(error) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("requests during a sync of a folder wait for the next sync and share it", async () => {
  const { disk, begun, end } = countingDisk();
  const done: string[] = [];
  const ask = (name: string): Promise<void> => syncFolder("/runs", disk).then(() => void done.push(name));
  const first = ask("first");
  await turn();
  const others = [ask("second"), ask("third"), ask("fourth")];
  await turn();
  expect(begun()).toBe(1);
  end();
  await first;
  await turn();
  expect([begun(), ...done]).toEqual([2, "first"]);
  end();
  await Promise.all(others);
  expect([begun(), ...done]).toEqual([2, "first", "second", "third", "fourth"]);
});

test("a failed sync fails for all requests that share it, and the next request starts a new sync", async () => {
  const { disk, begun, end } = countingDisk();
  const failing = syncFolder("/runs", disk);
  await turn();
  const waiting = syncFolder("/runs", disk);
  end(new Error("EIO"));
  await expect(failing).rejects.toThrow("EIO");
  await turn();
  end();
  await waiting;
  const last = syncFolder("/runs", disk);
  await turn();
  end();
  await last;
  expect(begun()).toBe(3);
});
