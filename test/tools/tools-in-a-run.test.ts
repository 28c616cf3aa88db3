import { expect, test } from "vitest";
import { z } from "zod";
import { type CrewOptions, createCrew, defineAgent, defineTool, type Event } from "../../src/index.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { webServer } from "../support/web-server.ts";

const call = (name: string, input: object): Script => ({ calls: [{ name, input }] });
const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: name, instructions: "Work.", model: name, ...more });

/** Starts another agent, as the delegation tools do. */
const start = defineTool({
  name: "start",
  description: "starts",
  input: z.object({ agent: z.string() }),
  effect: "write",
  does: "spawn",
  run: async ({ agent: name }, { delegate }) => {
    const outcome = await delegate({ mode: "single", agent: name, task: "Help." });
    return outcome.status === "ok" ? outcome.output : outcome.status;
  },
});

/** Runs an input with one scripted model per agent, everything allowed. */
async function play(scripts: Readonly<Record<string, readonly Script[]>>, input: object, options: CrewOptions = {}) {
  const models = Object.fromEntries(Object.entries(scripts).map(([name, turns]) => [name, scripted(...turns)]));
  const crew = createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    env: { PATH: "/bin" },
    discover: false,
    tools: [start],
    agents: Object.keys(scripts).map((name) => agent(name)),
    models,
    ...options,
  });
  const run = crew.run(input as never);
  const events: Event[] = [];
  for await (const event of run) {
    events.push(event);
    if (event.type === "gate.opened") await run.answer(event.path, { approve: true, text: "2" }, event.call);
  }
  return { result: await run, events, models, said: events.filter(({ type }) => type === "message.sent") };
}

const toolTexts = (events: readonly Event[]): string[] =>
  events.flatMap((event) => (event.type === "tool.ended" ? [event.text] : []));

test("a notification of an agent reaches the agent that started it", async () => {
  const { said, models } = await play(
    {
      lead: [call("start", { agent: "scout" }), "all done"],
      scout: [call("notify", { message: "half way there" }), "found it"],
    },
    { mode: "single", agent: "lead", task: "Lead." },
  );
  expect(said).toMatchObject([{ type: "message.sent", text: "half way there" }]);
  expect(said[0]).toMatchObject({ from: expect.stringContaining("/") });
  expect(said[0]!.path).toEqual((said[0] as { from: string }).from.split("/")[0]);
  expect(JSON.stringify(models["lead"]!.requests[1]!.messages)).toContain("half way there");
});

test("messages of a person's own agent are shown to the person", async () => {
  const { said } = await play(
    { solo: [call("notify", { message: "still here" }), "done"] },
    { mode: "single", agent: "solo", task: "Go." },
  );
  expect(said).toMatchObject([{ path: "", text: "still here" }]);
  expect((said[0] as { from: string }).from).not.toEqual("");
});

test("each task has its own todo list and its own variables", async () => {
  const script = [
    call("todo", { action: "add", title: "mine" }),
    call("set_env", { name: "STAGE", value: "x" }),
    call("todo", { action: "list" }),
    call("get_env", { name: "STAGE" }),
    "done",
  ];
  const { events } = await play(
    { a: script, b: [call("get_env", { name: "STAGE" }), call("todo", { action: "list" }), "done"] },
    {
      mode: "chain",
      chain: [
        { agent: "a", task: "x" },
        { agent: "b", task: "y" },
      ],
    },
  );
  const texts = toolTexts(events);
  expect(texts.slice(2, 4)).toEqual(["1. [ ] mine\n1 of 1 open.", "x"]);
  expect(texts.slice(4)).toEqual(["The variable STAGE is not available here.", "[the list is empty]"]);
});

test("a note of one run is read in the next run, with its origin", async () => {
  const place = { cwd: tempFolder(), home: tempFolder() };
  const first = await play(
    { a: [call("memory_write", { key: "plan", text: "buy milk" }), "done"] },
    { mode: "single", agent: "a", task: "x" },
    place,
  );
  const second = await play(
    { b: [call("memory_read", { key: "plan" }), "done"] },
    { mode: "single", agent: "b", task: "x" },
    place,
  );
  const [text] = toolTexts(second.events);
  expect(text).toContain("\nbuy milk");
  expect(text).toContain(`by ${first.result.id}/`);
  expect(text).toContain("(a) in ");
});

test("the network access of a crew follows its user's settings", async () => {
  const server = await webServer({
    "/": "hello from here",
    "/search": (_, response) =>
      response.end(JSON.stringify({ results: [{ title: "T", url: "https://t.example/", content: "C" }] })),
  });
  const script = [call("http_get", { url: server.url() }), call("web_search", { query: "x" }), "done"];
  const refused = await play(
    { a: script },
    { mode: "single", agent: "a", task: "x" },
    { webSearch: { backend: "searxng", url: server.url() } },
  );
  expect(toolTexts(refused.events)[0]).toContain("is an address of this machine");
  expect(toolTexts(refused.events)[1]).toContain("https://t.example/");
  expect(server.requests).toMatchObject([{ url: "/search?q=x&format=json" }]);
  const allowed = await play(
    { a: [...script.slice(0, 1), "done"] },
    { mode: "single", agent: "a", task: "x" },
    { network: { allowHosts: [server.host] } },
  );
  expect(toolTexts(allowed.events)[0]).toContain("hello from here");
});

test("a question goes to the person, and the answer is returned", async () => {
  const { events, result } = await play(
    { a: [call("ask", { question: "Which?", options: ["red", "blue"] }), "done"] },
    { mode: "single", agent: "a", task: "x" },
  );
  expect(toolTexts(events)).toEqual(["Answer: blue"]);
  expect(result.status).toEqual("ok");
});

test("a question in an unattended run is reported, and the work continues", async () => {
  const { events, result } = await play(
    { a: [call("ask", { question: "Which?" }), "done"] },
    { mode: "single", agent: "a", task: "x" },
    { unattended: true },
  );
  expect(toolTexts(events)[0]).toContain("Nobody is available to answer");
  expect(result).toMatchObject({ status: "ok", output: "done" });
});

test("a turn with the arguments of other programs changes the files, and says what it ignored", async () => {
  const cwd = tempFolder({ "a.txt": "one\ntwo\n" });
  const { events, result } = await play(
    {
      a: [
        {
          calls: [
            { name: "Edit", input: { file_path: "a.txt", old_string: "one", new_string: "1", description: "d" } },
            { name: "Read", input: { filePath: "a.txt", encoding: "utf8" } },
            { name: "write_file", input: { file_path: "b.txt", contents: "b", mode: 0o600 } },
            { name: "Bash", input: { cmd: "cat a.txt", timeout: 5, explanation: "e" } },
          ],
        },
        "done",
      ],
    },
    { mode: "single", agent: "a", task: "x" },
    { cwd, permissions: { mode: "acceptEdits", sandbox: "off", allow: ["bash"] } },
  );
  const texts = events.flatMap((event) =>
    event.type === "tool.ended" || event.type === "tool.rejected" ? [[event.tool, event.text] as const] : [],
  );
  const text = Object.fromEntries(texts);
  expect(text["edit_file"]).toMatch(/^Changed "a\.txt"/);
  expect(text["read_file"]).toMatch(
    /\[ignored: unknown argument "encoding" \(the arguments are path, offset, limit\)\]$/,
  );
  expect(text["write_file"]).toContain('unknown argument "mode" (the arguments are path, content)');
  expect(text["bash"]).toContain("[timeout: 5 was read as timeoutMs: 5000]");
  expect(result.status).toEqual("ok");
  expect(events.find((event) => event.type === "tool.started" && event.tool === "edit_file")).toMatchObject({
    preview: "a.txt",
  });
});
