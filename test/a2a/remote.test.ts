import { expect, test } from "vitest";
import { crewFor, listen, remoteAgent } from "./lab.ts";
import { sdkServer, TaskState } from "./sdk-server.ts";

test("a message of a remote agent is the result", async () => {
  const server = await sdkServer(({ text }, say) => say.message(`you said ${text}`));
  const crew = crewFor([server.host], { agents: [remoteAgent("echo", { cardUrl: server.cardUrl })] });

  const run = crew.run({ mode: "single", agent: "echo", task: "hello" });
  const events = await listen(run);

  expect(run.state.outcome).toMatchObject({ status: "ok", output: "you said hello" });
  expect(events.filter(({ type }) => type === "text.delta")).toMatchObject([{ text: "you said hello" }]);
});

test("what a task makes comes in pieces and is one result, without its heading", async () => {
  const server = await sdkServer((_, say) => {
    say.task();
    say.status(TaskState.TASK_STATE_WORKING, "thinking");
    say.artifact("one ", { name: "Report" });
    say.artifact("two", { name: "Report", append: true });
    say.status(TaskState.TASK_STATE_COMPLETED);
  });
  const crew = crewFor([server.host], { agents: [remoteAgent("writer", { cardUrl: server.cardUrl })] });

  const run = crew.run({ mode: "single", agent: "writer", task: "write" });
  const events = await listen(run);

  expect(run.state.outcome).toMatchObject({ status: "ok", output: "one \ntwo" });
  expect(events.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("|")).toBe("thinking|one |two");
});
