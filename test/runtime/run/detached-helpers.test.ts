import { expect, test } from "vitest";
import type { Run } from "../../../src/index.ts";
import type { Script } from "../../../src/models/scripted/scripted.ts";
import { call, crewOf } from "../../support/stage.ts";
import { until } from "../../support/until.ts";

const main = { tools: ["*", "Task"], delegation: ["Task"] };
const inBackground: Script = {
  calls: [
    {
      name: "Task",
      input: { description: "slow", prompt: "Be slow.", subagent_type: "slow", run_in_background: true },
    },
  ],
};

test("a background helper of a main agent continues after its message, and the next message finds it", async () => {
  let go = false;
  let id = "";
  const slow: Script = async () => {
    await until(() => go);
    return "slow and sure";
  };
  const { crew } = crewOf({
    main: {
      ...main,
      says: [
        inBackground,
        (request) => {
          id = /Task ID: ([^\\]+)/.exec(JSON.stringify(request.messages))![1]!;
          return "it is under way";
        },
        () => ({ calls: [{ name: "TaskOutput", input: { action: "result", taskId: id, block: true } }] }),
        "here it is",
      ],
    },
    slow: { says: [slow] },
  });
  const ended: Run[] = [];
  const options = { outliving: { ended: (run: Run) => void ended.push(run) } };
  const first = crew.run({ mode: "single", agent: "main", task: "Begin." }, options);
  expect(await first).toMatchObject({ status: "ok", output: "it is under way" });
  expect(ended).toHaveLength(0);
  go = true;
  const { plan, continues } = await crew.continuing({ run: first.id, prompt: "And?", allowFailed: false });
  const second = crew.run(plan, { ...options, continues });
  const texts: string[] = [];
  for await (const event of second) if (event.type === "tool.ended") texts.push(event.text);
  expect(texts).toEqual(["slow and sure"]);
  expect((await second).output).toBe("here it is");
  expect(ended.map((run) => run.id)).toEqual([id.split("/")[0]]);
});

test("with delegation: ceiling, a helper that outlives a message has no more rights than the agent that started it", async () => {
  const { crew } = crewOf({
    main: { ...main, delegationRule: "ceiling", tools: ["read_file", "Task"], says: [inBackground, "done"] },
    slow: { says: [call("write_file", { path: "x", content: "y" }), "tried"] },
  });
  const ended: Run[] = [];
  await crew.run(
    { mode: "single", agent: "main", task: "Begin." },
    { outliving: { ended: (run) => void ended.push(run) } },
  );
  await until(() => ended.length === 1);
  const denied: string[] = [];
  for await (const event of ended[0]!) if (event.type === "tool.denied") denied.push(event.rule);
  expect(denied).toEqual(["the parent of slow may not use the tool"]);
});
