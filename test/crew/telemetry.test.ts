import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createCrew } from "../../src/crew.ts";
import { defineAgent } from "../../src/core/agent/agent.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

type Attribute = Readonly<{ key: string; value: Readonly<Record<string, unknown>> }>;
type Span = Readonly<{
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status?: Readonly<{ code?: number }>;
  attributes: readonly Attribute[];
}>;

let spans: Span[] = [];
const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => void (body += chunk.toString()));
  request.on("end", () => {
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.setHeader("content-type", "application/json").end("{}");
  });
});
let otlp = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  otlp = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
beforeEach(() => {
  spans = [];
});
afterAll(() => void receiver.close());

const agents = [
  defineAgent({ name: "lead", description: "d", instructions: "i", tools: ["task"], spawns: ["scout"], model: "lead" }),
  defineAgent({ name: "scout", description: "d", instructions: "i", tools: ["list_files"], model: "scout" }),
];

function crewWith(telemetry: Readonly<{ otlp: string; content?: boolean }> | undefined): ReturnType<typeof createCrew> {
  const delegate = { agent: "scout", tasks: [{ id: "look", assignment: "Look around." }] };
  return createCrew({
    cwd: tempFolder({ "a.txt": "x" }),
    home: false,
    discover: false,
    agents,
    models: {
      lead: scripted({ calls: [{ name: "task", input: delegate }] }, "The answer is 42."),
      scout: scripted({ calls: [{ name: "list_files", input: { path: "." } }] }, "Seen."),
    },
    ...(telemetry && { config: { telemetry } }),
  });
}

const attributesOf = ({ attributes }: Span): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const parentName = ({ parentSpanId }: Span): string | undefined =>
  spans.find(({ spanId }) => spanId === parentSpanId)?.name;

test("a run becomes one trace: agents below the run and below the agent that started them, with turns and tools", async () => {
  const run = crewWith({ otlp }).run({ mode: "single", agent: "lead", task: "What is the answer?" });
  expect(await run).toMatchObject({ status: "ok", output: "The answer is 42." });
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const tree = spans.map((span) => `${parentName(span) ?? "-"} > ${span.name}`).sort();
  expect(tree).toEqual([
    "- > subcrew.run",
    "invoke_agent lead > chat lead",
    "invoke_agent lead > chat lead",
    "invoke_agent lead > execute_tool task",
    "invoke_agent lead > invoke_agent scout",
    "invoke_agent scout > chat scout",
    "invoke_agent scout > chat scout",
    "invoke_agent scout > execute_tool list_files",
    "subcrew.run > invoke_agent lead",
  ]);
  const tool = attributesOf(spans.find(({ name }) => name === "execute_tool list_files")!);
  expect(tool).toMatchObject({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "list_files" });
  expect(attributesOf(spans.find(({ name }) => name === "chat lead")!)).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "lead",
    "gen_ai.usage.output_tokens": expect.anything(),
  });
  const all = JSON.stringify(spans);
  for (const secret of ["What is the answer?", "The answer is 42.", "a.txt", "Look around."])
    expect(all).not.toContain(secret);
});

test("content is exported only where the settings say so", async () => {
  await crewWith({ otlp, content: true }).run({ mode: "single", agent: "lead", task: "What is the answer?" });
  const all = JSON.stringify(spans);
  for (const text of ["What is the answer?", "The answer is 42.", "a.txt"]) expect(all).toContain(text);
});

test("without the setting nothing is sent, and a receiver that does not answer fails no run", async () => {
  expect(await crewWith(undefined).run({ mode: "single", agent: "lead", task: "x" })).toMatchObject({ status: "ok" });
  expect(spans).toEqual([]);
  const run = crewWith({ otlp: "http://127.0.0.1:9" }).run({ mode: "single", agent: "lead", task: "x" });
  expect(await run).toMatchObject({ status: "ok" });
});
