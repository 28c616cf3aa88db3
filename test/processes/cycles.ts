import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import { createCrew } from "../../src/crew.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { startChild } from "../../src/runtime/commands/child.ts";

const MARK = `SUBCREW_CYCLE=${process.pid}`;

export type Left = Readonly<{ orphans: number; zombies: number; descriptors: number }>;

/**
 * Starts runs and programs this many times and lets them end, cancels them or kills them; nothing of them may be left.
 */
export async function cycles(count: number, home: string): Promise<Left> {
  await once(0, home); // everything that is opened only once is open now
  const before = descriptors();
  for (let round = 1; round <= count; round += 1) await once(round, home);
  const left = (): Left => ({ orphans: bearers().length, zombies: zombies(), descriptors: descriptors() - before });
  // Ended processes are reaped and descriptors closed a little later.
  for (let looks = 0; looks < 300 && Object.values(left()).some((count) => count > 0); looks += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  return left();
}

async function once(round: number, home: string): Promise<void> {
  const crew = createCrew({ cwd: home, home, discover: false, models: { m: scripted("done", "done") } });
  const run = crew.run({ mode: "single", agent: "general", task: "x" });
  const child = startChild({
    file: "/bin/sh",
    args: ["-c", round % 3 === 0 ? "exit 0" : "sleep 100 & sleep 100"],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", SUBCREW_CYCLE: String(process.pid) },
    marker: MARK,
  });
  if (round % 3 === 1) run.cancel();
  if (round % 3 !== 0) await child.kill(round % 3 === 1 ? 0 : 50);
  await child.ended;
  expect(["ok", "cancelled"]).toContain((await run).status);
}

const descriptors = (): number => readdirSync("/proc/self/fd").length;

function bearers(): string[] {
  return readdirSync("/proc").filter(
    (pid) => /^\d+$/.test(pid) && read(`/proc/${pid}/environ`).split("\0").includes(MARK),
  );
}

/** Child processes that have ended and are not reaped yet. */
function zombies(): number {
  const lines = execFileSync("ps", ["-o", "ppid=,stat=", "-A"], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => new RegExp(`^\\s*${process.pid}\\s+Z`).test(line)).length;
}

function read(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
