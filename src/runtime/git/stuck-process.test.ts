import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { onStuck } from "./stuck-process.ts";

/** What is reported about a program until it ends; a program that is reported is ended. */
function reportOn(file: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(file, args, { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return new Promise((resolve) => {
    let report = "ended by itself";
    const stop = onStuck(child.pid!, (why) => {
      report = why;
      child.kill("SIGKILL");
    });
    child.once("close", () => {
      stop();
      resolve(report);
    });
  });
}

test.skipIf(!existsSync("/proc/self/wchan"))(
  "a program that opens a pipe is stuck after seconds, and one that waits for a slow disk is not",
  async () => {
    const pipe = join(tempFolder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const reports = await Promise.all([
      reportOn("cat", pipe),
      reportOn("sh", "-c", 'cat "$1"; true', "sh", pipe),
      reportOn("sleep", "8"),
      reportOn("sh", "-c", "sleep 8; true"),
    ]);
    expect(reports).toEqual(["pipe", "pipe", "ended by itself", "ended by itself"]);
  },
  40_000,
);
