import { expect, test } from "vitest";
import { restoreOnEnd } from "./restore-terminal.ts";

test("signals for processor faults are not handled, because the faulting instruction would repeat for ever", () => {
  const withdraw = restoreOnEnd(() => {});
  const handled = (["SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"] as const).filter(
    (name) => process.listenerCount(name) > 0,
  );
  const others = (["SIGHUP", "SIGTERM", "SIGQUIT"] as const).filter((name) => process.listenerCount(name) > 0);
  withdraw();
  expect({ handled, others }).toEqual({ handled: [], others: ["SIGHUP", "SIGTERM", "SIGQUIT"] });
});
