import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { setPriority } from "node:os";
import { afterEach, expect, test } from "vitest";
import { onSignals, survivesTerminal } from "./signals.ts";

const listeners = (): number => process.listenerCount("SIGINT");

afterEach(() => {
  // The first signal raises the priority of the process.
  for (const thread of readdirSync("/proc/self/task")) setPriority(Number(thread), 0);
});

test("after a run without a signal, no signal handler is left", () => {
  const before = listeners();
  const signals = onSignals({ pause: () => {} });
  expect(listeners()).toBe(before + 1);
  signals.stop();
  expect([listeners(), signals.code()]).toEqual([before, undefined]);
});

test("after a first signal, a second signal is handled until the process ends", () => {
  const earlier = process.listeners("SIGINT");
  const reasons: string[] = [];
  const signals = onSignals({ pause: (reason) => void reasons.push(reason) });
  signals.interrupt();
  signals.stop();
  expect([listeners(), signals.code(), reasons]).toEqual([earlier.length + 1, 130, ["stopped with Ctrl-C"]]);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(name, process.listeners(name).at(-1)!);
});

test("a process that was started with nohup, or by a script that ignores SIGHUP, survives the end of its terminal", async () => {
  expect([survivesTerminal({}, process.pid), survivesTerminal({ _: "/usr/bin/nohup" }, process.pid)]).toEqual([
    false,
    true,
  ]);
  if (process.platform !== "linux") return;
  const script = spawn("/bin/sh", ["-c", "trap '' HUP; echo ready; cat"]);
  await once(script.stdout, "data");
  expect(survivesTerminal({}, script.pid!)).toBe(true);
  script.stdin.end();
});
