import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { alone } from "./file-lock.ts";

const never = new AbortController().signal;

function lockIn(): string {
  const folder = mkdtempSync(join(tmpdir(), "subcrew-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "it.lock");
}

test("file lock: concurrent holders exclude each other, and no lock file is left behind", async () => {
  const file = lockIn();
  let [inside, most, done] = [0, 0, 0];
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
    done += 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => alone(file, work, never)));
  expect([most, done, readdirSync(join(file, ".."))]).toEqual([1, 8, []]);
});

test("file lock: a lock held by a dead process is broken, and a failing holder releases it", async () => {
  const file = lockIn();
  const { pid } = spawnSync("true");
  writeFileSync(file, JSON.stringify({ pid, started: "1", nonce: "x" }));
  await expect(alone(file, () => Promise.reject(new Error("no")), never)).rejects.toThrow("no");
  expect(await alone(file, async () => 42, never)).toBe(42);
});

test("file lock: waiting for the lock can be aborted", async () => {
  const file = lockIn();
  const stop = new AbortController();
  await alone(
    file,
    async () => {
      const waiting = alone(file, async () => 1, stop.signal);
      stop.abort({ stop: "enough" });
      await expect(waiting).rejects.toThrow("enough");
    },
    never,
  );
});
