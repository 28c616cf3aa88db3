import { expect, test } from "vitest";
import type { Plan } from "../../../src/core/plan/plan.ts";
import { CrashError } from "../../../src/core/task/crash.ts";
import { settleOnAbort } from "../../../src/runtime/async/settle-on-abort.ts";
import type { Drive } from "../../../src/runtime/run/run.ts";
import { startRun } from "../../support/start-run.ts";

const boom = (): never => {
  throw new Error("boom");
};

test("a runner or tool that throws fails its task, and the fault names run and path", async () => {
  const { nodes } = await startRun({
    engine: { perform: (call, context) => settleOnAbort(call, context.signal, async () => boom()) },
  });
  expect(nodes["scout"]).toMatchObject({
    fault: { code: "CRASHED", message: "The task run_x/scout crashed: boom" },
  });
});

test("if an engine cannot perform a task, the task fails, and the fault names run and path", async () => {
  const { nodes } = await startRun({ engine: { perform: async () => boom() } });
  expect(nodes["scout"]).toMatchObject({ fault: { message: "The task run_x/scout crashed: boom" } });
});

test("if an engine cannot ask a question, the gate fails, and the fault names run, path and kind", async () => {
  const gate: Plan = { nodes: { ok: { kind: "gate", question: "go?" } }, output: "ok" };
  const { nodes } = await startRun({ engine: { answer: async () => boom() }, plan: gate });
  expect(nodes["ok"]).toMatchObject({ fault: { message: "The gate run_x/ok crashed: boom" } });
});

test("if an engine has no journal, the run rejects with an error that names the run and has the original error as cause", async () => {
  const error: unknown = await startRun({ engine: { journal: async () => boom() } }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CrashError);
  expect(error).toMatchObject({ run: "run_x", message: "The run run_x crashed: boom", cause: { message: "boom" } });
});

test("an executor that cannot settle a node rejects the run with the path of the node", async () => {
  const publish: Drive["publish"] = ({ type }) => void (type === "node.ended" && boom());
  await expect(startRun({ publish })).rejects.toMatchObject({
    path: "scout",
    message: "The task run_x/scout crashed: boom",
    cause: { message: "boom" },
  });
});
