import { describe, expect, test, vi } from "vitest";
import { never } from "../../src/models/scripted/scripted.ts";
import { crewFor, listen, ourServer, remoteAgent, workerCrew } from "./lab.ts";

/** A subcrew server with a worker, and a second crew that knows it as `far`. */
async function bridge(...turns: Parameters<typeof workerCrew>) {
  const there = workerCrew(...turns);
  const server = await ourServer(there);
  const auth = { type: "bearer", token: server.token };
  const here = crewFor([server.host], { agents: [remoteAgent("far", { cardUrl: server.card(), auth })] });
  return { there, here, server };
}

describe("a subcrew client and a subcrew server", () => {
  test("a task is sent and its result comes back, with usage", async () => {
    const { there, here } = await bridge([{ text: "from afar", usage: { input: 30, output: 12 }, cost: 0.25 }]);

    const result = await here.run({ mode: "single", agent: "far", task: "hello" });

    expect(result).toMatchObject({
      status: "ok",
      output: "from afar",
      cost: { usd: 0.25, unpriced: 0 },
      usage: { input: 30, output: 12 },
    });
    expect(await there.runs()).toHaveLength(1);
  });

  test("text of the remote agent is streamed", async () => {
    const { here } = await bridge(["one two three four"]);
    const run = here.run({ mode: "single", agent: "far", task: "count" });
    const events = await listen(run);
    expect(events.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("")).toContain(
      "one two three",
    );
  });

  test("a question of the remote agent is asked locally, and the answer is sent back", async () => {
    const ask = { calls: [{ name: "ask", input: { question: "Which colour?" } }] };
    const { here, there } = await bridge([
      ask,
      ({ messages }) => (JSON.stringify(messages).includes("Answer: blue") ? "blue it is" : "?"),
    ]);

    const run = here.run({ mode: "single", agent: "far", task: "paint" });
    const events = await listen(run, () => ({ approve: true, text: "blue" }));

    expect(run.state.outcome).toMatchObject({ status: "ok", output: "blue it is" });
    const [id] = await there.runs();
    const { usage, cost } = await there.record(id!);
    expect(run.state).toMatchObject({ cost, usage: { input: usage.input, output: usage.output, turns: usage.turns } });
    expect(events.filter(({ type }) => type === "gate.opened")).toMatchObject([
      { question: "far asks: Which colour?" },
    ]);
    expect(await there.runs()).toHaveLength(1);
  });

  test("cancelling the run cancels the remote task", async () => {
    const { here, there } = await bridge([], { models: { m: never } });
    const run = here.run({ mode: "single", agent: "far", task: "wait" });
    const events: string[] = [];
    void (async () => {
      for await (const { type } of run) events.push(type);
    })();
    await vi.waitFor(() => expect(events).toContain("remote.joined"), 60_000);

    run.cancel();
    await run;

    const [id] = await there.runs();
    await vi.waitFor(
      async () => expect((await there.record(id!)).outcome).toMatchObject({ status: "cancelled" }),
      60_000,
    );
  });

  test("a failure of the remote agent fails the task, with its reason", async () => {
    const { here } = await bridge([{ error: { code: "MODEL_REFUSED", message: "not this", retryable: false } }]);
    const { nodes } = await here.run({ mode: "single", agent: "far", task: "go" });
    expect(nodes["far"]).toMatchObject({
      status: "failed",
      fault: { code: "AGENT_REPORTED", message: expect.stringContaining("not this") },
    });
  });

  test("the task waits for a permission that the owner of the server has to give", async () => {
    const write = { calls: [{ name: "write_file", input: { path: "a.txt", content: "x" } }] };
    const { here, there } = await bridge([write, "written"]);
    const run = here.run({ mode: "single", agent: "far", task: "write" });
    await vi.waitFor(async () => expect(await there.kept.questions()).toHaveLength(1), 60_000);
    const [asked] = await there.kept.questions();
    const { run: id, path, call, question } = asked!;
    const signal = new AbortController().signal;

    await there.kept.tell(
      id,
      { do: "answer", path, question, answer: { approve: true }, ...(call && { call }) },
      { waitMs: 60_000, signal },
    );

    expect(await run).toMatchObject({ status: "ok", output: "written" });
  });
});
