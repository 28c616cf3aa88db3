import { expect, test } from "vitest";
import type { KeptEvent } from "../../core/run/event.ts";
import { runNamed } from "./run-id.ts";

/** A store with these runs, newest first, some with a name. */
const store = (runs: Record<string, string | undefined>): Parameters<typeof runNamed>[0] => ({
  list: async () => Object.keys(runs),
  first: async (run) => ({ type: "run.started", name: runs[run] }) as KeptEvent,
});

test("`last` is the newest run", async () => {
  expect(await runNamed(store({ run_b2: undefined, run_a1: undefined }), "last")).toBe("run_b2");
});

test("a run that is named `last` is reached by its name", async () => {
  expect(await runNamed(store({ run_b2: undefined, run_a1: "last" }), "last")).toBe("run_a1");
});

test("`last` without any run is refused", async () => {
  await expect(runNamed(store({}), "last")).rejects.toMatchObject({
    code: "UNKNOWN_RUN",
    hint: "No runs yet.",
  });
});
