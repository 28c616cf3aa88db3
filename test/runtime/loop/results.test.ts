import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  type Crew,
  type CrewOptions,
  createCrew,
  defineAgent,
  defineTool,
  type Event,
  type Model,
  type Result,
} from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

type Scripted = ReturnType<typeof scripted>;

async function play(
  crewOptions: CrewOptions,
  task: Record<string, unknown> = {},
): Promise<{ result: Result; events: Event[]; crew: Crew }> {
  const crew = createCrew({ home: tempFolder(), discover: false, ...crewOptions });
  const run = crew.run({ mode: "single", agent: "lead", task: "Do it.", ...task });
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  return { result: await run, events, crew };
}
const resultsIn = (model: Scripted, request: number): string[] =>
  model.requests[request]!.messages.flatMap((message) =>
    message.role === "tool" ? message.results.map(({ text }) => text) : [],
  );
const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: name, instructions: name, tools: [], ...more });

test("the full output of a task is a file; a caller reads the path and 2,000 characters of it, without a split character", async () => {
  const long = `${"x".repeat(1_999)}😀${"y".repeat(3_000)}`;
  const lead = scripted(
    { calls: [{ name: "task", input: { agent: "worker", tasks: [{ id: "Part", assignment: "go" }] } }] },
    "done",
  );
  const { result, crew } = await play({
    agents: [
      agent("lead", { model: "lead", tools: ["task"], spawns: ["worker"] }),
      agent("worker", { model: "worker", summaryChars: 2_000, summaryCut: "simple" }),
    ],
    models: { lead, worker: scripted(long) },
  });
  const file = await crew.outputFile(result.id, "lead/Part");
  expect(readFileSync(file!, "utf8")).toBe(`${long}\n`);
  expect(statSync(file!).mode & 0o777).toBe(0o600);
  const [read = ""] = resultsIn(lead, 1);
  expect(read).toContain(`${"x".repeat(1_999)}\n`);
  expect(read).not.toMatch(/😀|y{20}|[\ud800-\udfff]/u); // not y alone: the path of the file may contain that letter
  expect(read).toContain(file);
});

const speaker = (text: string) =>
  defineTool({ name: "speak", description: "speaks", input: z.object({}), effect: "read", run: () => text });

test.each([
  [
    "bytes",
    `${"a".repeat(30_000)}${"é".repeat(30_000)}`,
    /^\[the beginning was cut; the full output is in \S+\]\né{25600}$/u,
  ],
  ["lines", Array.from({ length: 2_500 }, (_, n) => `line ${n}`).join("\n"), /^\[.*\]\nline 500\n[^]*line 2499$/],
])(
  "the model reads the end of a tool result that is too long in %s, and all of it is in a file",
  async (_, text, wanted) => {
    const lead = scripted({ calls: [{ name: "speak", input: {} }] }, "done");
    await play({ agents: [agent("lead", { tools: ["speak"] })], tools: [speaker(text)], models: { lead } });
    const [read = ""] = resultsIn(lead, 1);
    expect(read).toMatch(wanted);
    const file = / in (\S+)\]/.exec(read)?.[1] ?? "";
    expect(readFileSync(file, "utf8")).toBe(`${text}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  },
);

test("a call of another tool in the last turn is refused", async () => {
  let used = 0;
  const touch = defineTool({
    name: "touch",
    description: "touches",
    input: z.object({}),
    effect: "read",
    run: () => `${++used}`,
  });
  const again: Script = { calls: [{ name: "touch", input: {} }] };
  const finish: Script = { calls: [...again.calls!, { name: "complete_task", input: { result: "what I have" } }] };
  for (const [last, wanted] of [
    [again, { status: "failed", fault: { code: "MAX_TURNS" } }],
    [finish, { status: "ok", output: "what I have" }],
  ] as const) {
    used = 0;
    const lead = scripted(again, last);
    const { result, events } = await play(
      { agents: [agent("lead", { tools: ["touch"], completion: "tool" })], tools: [touch], models: { lead } },
      { resourceLimits: { maxTurns: 1 } },
    );
    expect(result).toMatchObject(wanted);
    expect(used).toBe(1);
    expect(lead.requests[1]?.toolChoice).toEqual({ tool: "complete_task" });
    expect(events.filter(({ type }) => type === "tool.denied")).toMatchObject([
      { tool: "touch", rule: expect.stringContaining("last turn") as string },
    ]);
  }
});

test("a result states the used tools, the turns and tokens, the cost, the duration and the model", async () => {
  const model: Model = async function* ({ messages }) {
    if (messages.length === 1) yield { type: "call", call: { id: "1", name: "speak", input: {} } };
    else yield { type: "text", text: "done" };
    yield { type: "end", usage: { input: 10, output: 5 }, cost: 0.25 };
  };
  const one = agent("lead", { tools: ["speak"] });
  const { result } = await play({ agents: [one], tools: [speaker("x")], models: { m: model } });
  expect(result).toMatchObject({ usage: { input: 20, output: 10, turns: 2 }, cost: { usd: 0.5, unpriced: 0 } });
  expect(Object.values(result.nodes)[0]).toMatchObject({
    tools: { speak: 1 },
    usage: { turns: 2 },
    cost: { usd: 0.5 },
    model: "m",
    ms: expect.any(Number) as number,
  });
});
