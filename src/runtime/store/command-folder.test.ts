import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Receipt, RunCommand } from "../../core/run/run-command.ts";
import { CommandFolder } from "./command-folder.ts";
import { createFolderStore } from "./folder-store.ts";
import { commandsFolder, runFolder } from "./layout.ts";
import { claim } from "./run-claim.ts";

const command: RunCommand = { do: "pause", reason: "lunch" };
const yes: Receipt = { state: "done", code: "DONE", text: "paused" };
const never = new AbortController().signal;
const ended = async (): Promise<undefined> => undefined;
const anyRun = async (): Promise<boolean> => true;

test("each of many runs in one process gets the commands to it, from one watched folder", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = join(tempFolder(), "run-commands");
  const here = new CommandFolder(folder, anyRun);
  const over = new AbortController();
  const got: string[] = [];
  const serving = Array.from({ length: 250 }, (_, run) =>
    here.serve(`run_${run}`, async () => (got.push(`run_${run}`), yes), over.signal),
  );
  await vi.advanceTimersByTimeAsync(1_000);
  const there = new CommandFolder(folder, anyRun);
  const receipts = Promise.all(
    [0, 120, 249].map((run) => there.post(`run_${run}`, command, { waitMs: 60_000, signal: never, ended })),
  );
  void there.post("run_1200", command, { waitMs: 0, signal: never, ended });
  await vi.waitFor(() => expect(got.toSorted()).toEqual(["run_0", "run_120", "run_249"]));
  expect(await vi.waitFor(() => receipts)).toEqual([yes, yes, yes]);
  over.abort();
  await Promise.all(serving);
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^run_1200\..*\.json$/)]);
});

describe("a run that another process has taken over", () => {
  const RUN = "run_aaaaaaaaaaaa";
  const other = JSON.stringify({ pid: 1, started: "1", boot: "another", nonce: "x" });

  const owned = async (): Promise<{ home: string; folder: string }> => {
    const home = tempFolder();
    const folder = runFolder(home, RUN);
    mkdirSync(folder, { recursive: true });
    await claim(folder);
    return { home, folder };
  };

  test("leaves its commands to that process", async () => {
    const { home, folder } = await owned();
    const store = createFolderStore(home);
    await store.post(RUN, command, { waitMs: 0, signal: never, ended });
    writeFileSync(join(folder, "owner.2.json"), other);
    const handle = vi.fn(async () => yes);
    await store.serve(RUN, handle, AbortSignal.abort());
    expect([handle.mock.calls.length, await store.waiting(RUN)]).toEqual([0, [command]]);
    renameSync(join(folder, "owner.2.json"), join(folder, "released.2.json"));
    await store.serve(RUN, handle, AbortSignal.abort());
    expect([handle.mock.calls.length, await store.waiting(RUN)]).toEqual([0, [command]]);
    renameSync(join(folder, "owner.1.json"), join(folder, "released.1.json"));
    await claim(folder);
    await store.serve(RUN, handle, AbortSignal.abort());
    expect([handle.mock.calls.length, await store.waiting(RUN)]).toEqual([1, []]);
  });

  test("leaves it the command that it was carrying out, without a receipt", async () => {
    const { home, folder } = await owned();
    const store = createFolderStore(home);
    const sent = store.post(RUN, command, { waitMs: 300, signal: never, ended });
    await vi.waitFor(async () => expect(await store.waiting(RUN)).toEqual([command]));
    const takenOver = async (): Promise<Receipt> => {
      writeFileSync(join(folder, "owner.2.json"), other);
      return yes;
    };
    await store.serve(RUN, takenOver, AbortSignal.abort());
    expect([await sent, await store.waiting(RUN)]).toEqual([undefined, [command]]);
  });
});

test("a deleted run takes its commands and receipts with it; sweeping deletes those of missing runs, and old receipts", async () => {
  const home = tempFolder();
  const store = createFolderStore(home);
  const [kept, gone, missing] = ["run_aaaaaaaaaaaa", "run_bbbbbbbbbbbb", "run_cccccccccccc"] as const;
  for (const run of [kept, gone]) mkdirSync(runFolder(home, run), { recursive: true });
  for (const run of [kept, gone, missing]) {
    for (const _ of [1, 2]) await store.post(run, command, { waitMs: 0, signal: never, ended });
    let first = true;
    await store.serve(run, async () => (first ? ((first = false), yes) : undefined), AbortSignal.abort());
  }
  const endings = (run: string): string[] =>
    readdirSync(commandsFolder(home)).flatMap((name) => (name.startsWith(run) ? [name.split(".").at(-1)!] : []));
  const both = ["json", "receipt"];
  expect([kept, gone, missing].map((run) => endings(run).toSorted())).toEqual([both, both, both]);
  await store.remove(gone);
  expect([kept, gone, missing].map((run) => endings(run).length)).toEqual([2, 0, 2]);
  await store.sweep();
  expect([kept, missing].map((run) => endings(run).length)).toEqual([2, 0]);
  for (const name of readdirSync(commandsFolder(home))) utimesSync(join(commandsFolder(home), name), 1, 1);
  await store.sweep();
  expect(endings(kept)).toEqual(["json"]);
});

test("a command to a run needs no folder of the run, and an id that is a path is refused", async () => {
  const home = tempFolder();
  const store = createFolderStore(home);
  await store.post("run_aaaaaaaaaaaa", command, { waitMs: 0, signal: never, ended });
  expect(existsSync(runFolder(home, "run_aaaaaaaaaaaa"))).toBe(false);
  await expect(store.post("../x", command, { waitMs: 0, signal: never, ended })).rejects.toMatchObject({
    code: "UNKNOWN_RUN",
  });
});
