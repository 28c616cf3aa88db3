import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { isRecord } from "../../../src/core/text/json.ts";
import {
  alive,
  calls,
  createCrew,
  type Event,
  type Experiment,
  type Input,
  lab,
  listen,
  type RunnerName,
  type Turn,
  until,
} from "./lab.ts";

/** The behaviour that all runners share. `elsewhere` means that the task is not in this thread. */
export function runnerSuite(runner: RunnerName, { elsewhere }: { elsewhere: boolean }): void {
  const play = async (experiment: Experiment, input: Input, heard?: (event: Event) => void) => {
    const { crew, folder } = lab({ runner, ...experiment });
    return { ...(await listen(crew.run(input), heard)), folder };
  };
  const single = { mode: "single", agent: "lead", task: "Go." } as const;

  describe(`the ${runner} runner`, () => {
    test("gives the same result and emits the same events as a task in this thread, with tools and delegation", async () => {
      const agents = {
        lead: [
          calls("read_file", { path: "notes.txt" }, "Let me see."),
          calls("start", { agent: "helper" }),
          calls("no_such_tool"),
          "It is 42.",
        ],
        helper: [calls("json_parse", { text: '{"a":1}' }), "I helped."],
      };
      const here = await listen(lab({ agents, runner: "local" }).crew.run(single));
      const there = await play({ agents }, single);
      expect(there.result).toMatchObject({ status: "ok", output: "It is 42." });
      expect(told(there.events)).toEqual(told(here.events));
      expect(shown(there.events)).toEqual(shown(here.events));
    });

    test("requests a result again that does not match its schema", async () => {
      const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
      const finish = (n: unknown) => calls("complete_task", { result: { n } });
      const { result } = await play(
        { agents: { lead: [finish("four"), finish(4)] }, more: { lead: { output } } },
        single,
      );
      expect(result).toMatchObject({ status: "ok", data: { n: 4 } });
    });

    test("parks a task whose provider refuses it, gives its slot to others, and continues it later", async () => {
      const error = { code: "MODEL_OVERLOADED", message: "refused", retryable: true };
      const { crew } = lab({ runner, agents: { lead: [{ error }, "Done."], other: ["Meanwhile."] } });
      const tasks = ["lead", "other"].map((agent) => ({ agent, task: "Go." }));
      const input = { mode: "parallel", tasks } as const;
      const { result, events } = await listen(crew.run(input, { onProviderFault: "park", concurrency: 1 }));
      const told = events.map(({ type, path }) => `${type} ${path}`);
      expect(result).toMatchObject({ status: "ok" });
      const order = ["node.parked", "node.unparked"].map((type) => told.findIndex((line) => line.startsWith(type)));
      const meanwhile = events.findIndex((event) => event.type === "node.started" && event.agent === "other");
      expect(order[0]).toBeGreaterThan(0);
      expect(meanwhile).toBeGreaterThan(order[0]!);
      expect(order[1]).toBeGreaterThan(meanwhile);
    });

    test("delivers a message to a task before its next turn", async () => {
      const { crew } = lab({ runner, agents: { lead: [calls("sleep", { seconds: 0.3 }), "Heard."] } });
      const run = crew.run(single);
      let sent: Promise<boolean> | undefined;
      const { events } = await listen(run, ({ type }) => {
        if (type === "tool.started") sent ??= run.send("lead", "and the tests?");
      });
      expect(await sent).toBe(true);
      const turns = events.filter(({ type }) => type === "turn.ended");
      const usage = turns.map((event) => (event.type === "turn.ended" ? event.usage.input : 0));
      expect(usage[1]! - usage[0]!).toBeGreaterThan(15); // the second request also contains the message
    });

    test("asks a person and continues with the answer", async () => {
      const { crew } = lab({ runner, agents: { lead: [calls("ask", { question: "Which one?" }), "So be it."] } });
      const run = crew.run(single);
      const { result, events } = await listen(run, (event) => {
        if (event.type === "gate.opened")
          void run.answer(event.path, { approve: true, text: "the red one" }, event.call);
      });
      expect(result.status).toBe("ok");
      expect(events.find(({ type }) => type === "tool.ended")).toMatchObject({
        text: expect.stringContaining("the red one"),
      });
    });

    test("delivers a notification to the caller of the task", async () => {
      const { events } = await play({ agents: { lead: [calls("notify", { message: "half way" }), "Done."] } }, single);
      expect(events.find(({ type }) => type === "message.sent")).toMatchObject({ from: "lead", text: "half way" });
    });

    test("counts against the budget of the run", async () => {
      const agents = { lead: [calls("current_time"), calls("current_time"), "What I have.", "Never."] };
      const { crew } = lab({ runner, agents });
      const { result, events } = await listen(crew.run(single, { budget: { maxTurns: 2 } }));
      // the task returns this in its last turn after the limit
      expect(result).toMatchObject({ status: "ok", output: "What I have." });
      expect(events.filter(({ type }) => type === "limit.reached")).toMatchObject([{ limit: "MAX_TURNS" }]);
    });

    test("enforces the limits of the task and returns its result so far", async () => {
      const resourceLimits = { maxTurns: 1 };
      const { result, events } = await play(
        { agents: { lead: [calls("current_time", {}, "So far."), "What I have."] } },
        { ...single, resourceLimits },
      );
      expect(result).toMatchObject({ status: "ok", output: "What I have." });
      expect(events.filter(({ type }) => type === "limit.reached")).toHaveLength(1);
    });

    test("runs as many tool calls of a turn at once as allowed", async () => {
      const crowd: Turn = { calls: Array.from({ length: 5 }, () => ({ name: "crowd", input: {} })) };
      const resourceLimits = { maxConcurrentToolCalls: 2 };
      const { events } = await play({ agents: { lead: [crowd, "Done."] } }, { ...single, resourceLimits });
      const seen = events.flatMap((event) => (event.type === "tool.ended" ? [Number(event.text)] : []));
      expect(seen).toHaveLength(5);
      expect(Math.max(...seen)).toBe(2);
    });

    test("is cancelled at once, with its text so far", async () => {
      const { crew } = lab({ runner, agents: { lead: [calls("hang", {}, "I had begun."), "Never."] } });
      const run = crew.run(single);
      const { result, events } = await listen(run, ({ type }) => {
        if (type === "tool.started") run.cancel("enough");
      });
      expect(result).toMatchObject({ status: "cancelled", output: "I had begun." });
      expect(events.find(({ type }) => type === "node.ended")).toMatchObject({
        outcome: { usage: { turns: 1 }, tools: { hang: 1 } },
      });
    });

    if (elsewhere)
      test("refuses a task that may use tools or models which were passed in as code", async () => {
        const agents = { lead: ["Hello."] };
        const tools = [
          { name: "look", description: "looks", input: { type: "object" }, effect: "read" as const, run: () => "seen" },
        ];
        const withTool = await play({ agents, options: { tools } }, single);
        expect(withTool.result).toMatchObject({
          status: "failed",
          fault: { code: "UNSUPPORTED", message: expect.stringContaining('"look"') },
        });
        const without = await play(
          { agents, options: { tools }, more: { lead: { disallowedTools: ["look"] } } },
          single,
        );
        expect(without.result).toMatchObject({ status: "ok", output: "Hello." });
        const crew = createCrew({
          home: false,
          discover: false,
          models: {
            m: async function* () {
              yield { type: "end", usage: { input: 1, output: 1 } };
            },
          },
        });
        const withModel = await listen(crew.run({ mode: "single", task: "Go.", runner }));
        expect(withModel.result).toMatchObject({
          status: "failed",
          fault: { code: "UNSUPPORTED", hint: expect.stringContaining("local") },
        });
      });

    test("leaves no process behind", async () => {
      const { crew, mark } = lab({
        runner,
        agents: { lead: [calls("bash", { command: "sleep 1000", background: true }), "Started."] },
      });
      const { result, events } = await listen(crew.run(single));
      expect(result, JSON.stringify(events.find(({ type }) => type === "tool.ended"))).toMatchObject({
        status: "ok",
        output: "Started.",
      });
      await until(() => alive(mark).length === 0);
    });
  });
}

/** The facts of a run, without fields that are different every time. */
function told(events: readonly Event[]): unknown[] {
  const kept = events.filter((event) => "seq" in event);
  return JSON.parse(JSON.stringify(kept), (key, value: unknown) => {
    if (key === "files" && Array.isArray(value)) return value.map((file) => basename(String(file)));
    if (key === "agents" && isRecord(value)) return Object.keys(value); // a hash depends on the runner
    return /^(?:at|run|seq|ms|file|cwd|name|runner|hash|reuse)$/.test(key) && typeof value !== "object"
      ? undefined
      : value;
  }) as unknown[];
}

/** The text that was shown while it was written, by node. */
function shown(events: readonly Event[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const event of events)
    if (event.type === "text.delta") texts[event.path] = (texts[event.path] ?? "") + event.text;
  return texts;
}
