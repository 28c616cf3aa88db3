import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { killStuck } from "./stuck-process.ts";

/** Why a program was reported as stuck, or that it ended by itself. */
function reportOn(file: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(file, args, { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return new Promise((resolve) => {
    let report = "ended by itself";
    const stop = killStuck(child.pid!, (why) => {
      report = why;
    });
    child.once("close", () => {
      stop();
      resolve(report);
    });
  });
}

/** The processes with this word in their command line. */
function processesWith(word: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
    } catch {
      return false; // the process has ended meanwhile
    }
  });
}

test.skipIf(!existsSync("/proc/self/wchan"))(
  "a program that opens a pipe counts as stuck after some seconds; a program that waits for a slow disk does not",
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
    await expect.poll(() => processesWith(pipe)).toEqual([]); // the child of a killed program has ended, too
  },
  40_000,
);
