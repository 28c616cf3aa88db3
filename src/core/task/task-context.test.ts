import { expect, test } from "vitest";
import { contextOf } from "../../../test/support/task-world.ts";
import type { Parent } from "./engine.ts";
import type { ForkPoint } from "./fork-point.ts";
import { type AroundWait, taskContext } from "./task-context.ts";

const parent: Parent = { spawns: "*", model: "m" };

test("a delegation inherits the conversation, stops the clock, then gives the slot away", async () => {
  const order: string[] = [];
  const around =
    (name: string): AroundWait =>
    (wait) => {
      order.push(name);
      return wait();
    };
  const { context } = contextOf({
    delegate: async (_what, { conversation }) => {
      order.push(`run: ${conversation?.task}`);
      return { status: "ok", output: "" };
    },
  });
  const { delegate } = taskContext(context, {
    conversation: () => ({ task: "run/a" }) as ForkPoint,
    standing: around("clock"),
    yielding: { slot: { whileFree: around("slot") }, over: context.signal },
  });
  await delegate({ mode: "single", task: "x" }, parent);
  expect(order).toEqual(["clock", "slot", "run: run/a"]);
});

test("the clock runs while messages are only looked for, and stops while they are waited for", async () => {
  let waits = 0;
  const { context } = contextOf({ mail: async () => [] });
  const { mail } = taskContext(context, { standing: (wait) => ((waits += 1), wait()) });
  await mail();
  expect(waits).toBe(0);
  await mail(context.signal);
  expect(waits).toBe(1);
});

test("after the end of a task its events are dropped", () => {
  const { context, facts } = contextOf();
  let isOver = false;
  const { emit } = taskContext(context, { isOver: () => isOver });
  emit({ type: "note", text: "in time" });
  isOver = true;
  emit({ type: "note", text: "late" });
  expect(facts).toEqual([{ type: "note", text: "in time" }]);
});
