import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { RunCommand } from "../../core/run/run-command.ts";
import { post, serveCommands } from "./command-queue.ts";

test("a run without commands creates no folder for them, and still receives the first command", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const run = tempFolder();
  const over = new AbortController();
  const command: RunCommand = { do: "pause", reason: "lunch" };
  const got: RunCommand[] = [];
  const serving = serveCommands(
    run,
    async (each) => {
      got.push(each);
      return { done: true, text: "paused" };
    },
    over.signal,
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(existsSync(join(run, "control"))).toBe(false);
  const receipt = post(run, command, { waitMs: 60_000, signal: over.signal, ended: async () => undefined });
  await vi.waitFor(() => expect(got).toEqual([command]));
  await vi.waitFor(async () =>
    expect(await Promise.race([receipt, Promise.resolve(undefined)])).toEqual({ done: true, text: "paused" }),
  );
  over.abort();
  await serving;
});

test("each of many runs in one process gets its first command", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const home = tempFolder();
  const over = new AbortController();
  const got: number[] = [];
  const serving = Array.from({ length: 250 }, (_, run) =>
    serveCommands(
      join(home, String(run)),
      async () => {
        got.push(run);
        return { done: true, text: "paused" };
      },
      over.signal,
    ),
  );
  await vi.advanceTimersByTimeAsync(1_000);
  for (const run of [0, 120, 249])
    void post(
      join(home, String(run)),
      { do: "pause", reason: "lunch" },
      { waitMs: 0, signal: over.signal, ended: async () => undefined },
    );
  await vi.waitFor(() => expect(got.toSorted((a, b) => a - b)).toEqual([0, 120, 249]));
  over.abort();
  await Promise.all(serving);
});
