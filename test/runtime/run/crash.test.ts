import { expect, test } from "vitest";
import type { Plan } from "../../../src/core/plan/plan.ts";
import { CrashError } from "../../../src/core/task/crash.ts";
import type { Engine } from "../../../src/core/task/engine.ts";
import { localEngine } from "../../../src/engines/local.ts";
import { settleOnAbort } from "../../../src/runtime/async/settle-on-abort.ts";
import { drive } from "../../../src/runtime/run/drive.ts";
import { type Drive, Run } from "../../../src/runtime/run/run.ts";
import { memoryJournal } from "../../../src/runtime/store/journal.ts";

const plan: Plan = { nodes: { scout: { kind: "task", task: { prompt: "look" } } }, output: "scout" };
const boom = (): never => {
  throw new Error("boom");
};

function run(more: Partial<Engine>, given: { plan?: Plan; publish?: Drive["publish"] } = {}): Run {
  const engine: Engine = {
    ...localEngine({
      perform: async () => ({ status: "ok", output: "done" }),
      journal: async (_, listener) => memoryJournal(listener),
    }),
    ...more,
  };
  const start = {
    plan: given.plan ?? plan,
    engine,
    parameters: {},
    clock: () => 0,
    random: () => 0,
    version: "0",
    cwd: "/",
    context: "",
    compile: () => plan,
  };
  return new Run("run_x", (it) => drive(start, { ...it, publish: given.publish ?? it.publish }));
}

test("a runner or tool that throws fails its task, and the fault names run and path", async () => {
  const { nodes } = await run({ perform: (call, context) => settleOnAbort(call, context, async () => boom()) });
  expect(nodes["scout"]).toMatchObject({
    fault: { code: "CRASHED", message: "The task run_x/scout broke: boom" },
  });
});

test("an engine that cannot perform a task fails it, and the fault names run and path", async () => {
  const { nodes } = await run({ perform: async () => boom() });
  expect(nodes["scout"]).toMatchObject({ fault: { message: "The task run_x/scout broke: boom" } });
});

test("an engine that cannot ask fails the gate, and the fault names run, path and kind", async () => {
  const gate: Plan = { nodes: { ok: { kind: "gate", question: "go?" } }, output: "ok" };
  const { nodes } = await run({ answer: async () => boom() }, { plan: gate });
  expect(nodes["ok"]).toMatchObject({ fault: { message: "The gate run_x/ok broke: boom" } });
});

test("an engine without a journal rejects the run, which is named; the original error is the cause", async () => {
  const error: unknown = await run({ journal: async () => boom() }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CrashError);
  expect(error).toMatchObject({ run: "run_x", message: "The run run_x broke: boom", cause: { message: "boom" } });
});

test("an executor that cannot settle a node rejects the run with the path of the node", async () => {
  const publish: Drive["publish"] = ({ type }) => void (type === "node.ended" && boom());
  await expect(run({}, { publish })).rejects.toMatchObject({
    path: "scout",
    message: "The task run_x/scout broke: boom",
    cause: { message: "boom" },
  });
});
