import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { pause } from "../../runtime/async/cancel.ts";

const MOST_SECONDS = 300;

const input = z.strictObject({
  seconds: z.number().positive().max(MOST_SECONDS).describe(`seconds to wait, at most ${MOST_SECONDS}`),
});

/** Waits for a given time, or until the task is stopped. */
export const sleep = defineTool({
  name: "sleep",
  description: `Waits for a number of seconds, at most ${MOST_SECONDS}, for example until a server is ready.`,
  input,
  effect: "read",
  does: "none",
  polls: true,
  order: () => "write",
  timeoutMs: (MOST_SECONDS + 10) * 1_000,
  async run({ seconds }, { signal }) {
    if (!(await pause(seconds * 1_000, signal))) throw new Error("the wait was interrupted");
    return `Waited ${formatDuration(seconds * 1_000)}.`;
  },
});
