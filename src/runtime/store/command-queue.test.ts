import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { RunCommand } from "../../core/run/run-command.ts";
import { post, serveCommands } from "./command-queue.ts";

test("a run without commands makes no folder for them, and the first command reaches it all the same", async () => {
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
