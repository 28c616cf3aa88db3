import { expect, test } from "vitest";
import { startRun } from "../../../test/support/start-run.ts";
import type { Event } from "../../core/run/event.ts";
import { doneWith } from "../../core/run/run-command.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import type { Perform } from "../../core/task/engine.ts";
import type { Run } from "../run/run.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import type { Feature } from "./feature.ts";
import { runFeatures } from "./features.ts";

/**
 * A run with a parent run, which is paused in the middle of an answer and goes on emitting: what it published, and what
 * it asked of the parent run and reported to it.
 */
async function pausedInTheMiddle(features: readonly Feature[]): Promise<readonly string[]> {
  const seen: string[] = [];
  const started: { run?: Run } = {};
  const perform: Perform = async (_, { emit, live, budget }) => {
    await budget.count("maxTurns");
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
    features,
    redactor: createRedactor(["hunter2-hunter2"]),
    engine: { perform },
    above: {
      ...{ task: "run_above/lead", depth: 0, maxDepth: -1 },
      budget: {
        limits: { maxTurns: 9 },
        spawns: undefined,
        left: (own) => own,
        ask: async ({ what }) => {
          seen.push(`asked to ${what}`);
          return {};
        },
      },
    },
    store: {
      ...createMemoryStore(),
      post: async (_run, command) => {
        if (command.do === "charge") seen.push(`reported ${command.spent.toolCalls} tool calls`);
        return doneWith("counted");
      },
    },
    publish: (event) => void seen.push(lineOf(event)),
  });
  started.run = run;
  await run.then(
    () => {},
    () => {},
  );
  return seen;
}

function lineOf(event: Event): string {
  const text = "text" in event ? event.text : "reason" in event ? event.reason : "";
  return ["seq" in event ? event.seq : "live", event.type, text].join(" ").trim();
}

const inOrder = [
  "1 run.started",
  "2 node.started",
  "asked to count",
  "3 turn.started",
  "live text.delta The key",
  "live text.delta [redacted] is for",
  "4 turn.partial The key [redacted] is for",
  "5 run.paused a break from [redacted]",
  "live text.delta the back",
  "live tool.delta read",
  "live tool.delta [redacted]",
  "reported 0 tool calls",
];

test("what a pause holds back is neither recorded nor counted, and live text goes on without secrets", async () => {
  expect(await pausedInTheMiddle(runFeatures)).toEqual(inOrder);
});

test.each([
  ["redaction", "pause"],
  ["pause", "partial text"],
  ["pause", "parent run"],
  ["parent run", "budget"],
])("the features %s and %s cannot change places", async (one, other) => {
  const at = (name: string): number => runFeatures.findIndex((feature) => feature.name === name);
  const swapped = runFeatures.with(at(one), runFeatures[at(other)]!).with(at(other), runFeatures[at(one)]!);
  expect(await pausedInTheMiddle(swapped)).not.toEqual(inOrder);
});
