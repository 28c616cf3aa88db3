import { expect, test } from "vitest";
import { startRun } from "../../../test/support/start-run.ts";
import type { Event } from "../../core/run/event.ts";
import type { BelowSpent } from "../../core/run/run-below.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import type { Perform } from "../../core/task/engine.ts";
import type { Run } from "./run.ts";

/** Pauses a run in the middle of an answer, and emits more while it is being paused; returns what came of it. */
async function pausedInTheMiddle(): Promise<Readonly<{ events: string[]; spent: BelowSpent | undefined }>> {
  const events: Event[] = [];
  let spent: BelowSpent | undefined;
  const started: { run?: Run } = {};
  const perform: Perform = async (_, { emit, live }) => {
    emit({ type: "turn.started", turn: 1, model: "m" });
    live({ type: "text.delta", text: "The key hunter2-" });
    live({ type: "text.delta", text: "hunter2 is for " });
    started.run?.pause("a break from hunter2-hunter2");
    live({ type: "text.delta", text: "the back " });
    live({ type: "tool.delta", call: "1", text: "read hunter2-hunter2" });
    emit({ type: "tool.started", call: "2", tool: "read_file", preview: "", effect: "read" });
    emit({ type: "tool.ended", call: "1", tool: "read_file", error: true, text: "", ms: 0 });
    emit({ type: "note", text: "not recorded" });
    return { status: "ok", output: "not recorded" };
  };
  const run = startRun({
    redactor: createRedactor(["hunter2-hunter2"]),
    engine: { perform },
    report: async (all) => void (spent = all),
    publish: (event) => void events.push(event),
  });
  started.run = run;
  await run.then(
    () => {},
    () => {},
  );
  return {
    events: events.map((event) => {
      const text = "text" in event ? event.text : "reason" in event ? event.reason : "";
      return ["seq" in event ? event.seq : "live", event.type, text].join(" ").trim();
    }),
    spent,
  };
}

test("redaction is outside the pause, the pause outside partial text and the sum of the usage", async () => {
  const { events, spent } = await pausedInTheMiddle();
  expect(events).toMatchInlineSnapshot(`
    [
      "1 run.started",
      "2 node.started",
      "3 turn.started",
      "live text.delta The key",
      "live text.delta [redacted] is for",
      "4 turn.partial The key [redacted] is for",
      "5 run.paused a break from [redacted]",
      "live text.delta the back",
      "live tool.delta read",
      "live tool.delta [redacted]",
    ]
  `);
  expect(spent).toMatchObject({ toolCalls: 0 });
});
