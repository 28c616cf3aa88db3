import { readFileSync } from "node:fs";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { delegationSpellings, facadeOf } from "../../src/core/vocabulary/delegation-names.ts";
import { prompts } from "../../src/embedded.ts";
import { createCrew, defineAgent, defineTool } from "../../src/index.ts";
import { scripted, type ScriptedTurn } from "../../src/models/scripted/scripted.ts";
import { needs } from "../needs.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { call, stage } from "../support/stage.ts";

const lead = { tools: ["*", "task"] };
const batch = (agent: string, ...ids: readonly string[]) =>
  call("task", {
    agent,
    context: "  All about auth.  ",
    tasks: ids.map((id) => ({ id, assignment: `Look at ${id}.` })),
  });
const startedPaths = (events: readonly { type: string; path: string }[]): string[] =>
  events
    .filter(({ type }) => type === "node.started")
    .map(({ path }) => path)
    .toSorted();

test("the tasks of a batch run in parallel, and the agent that started them reads a summary of each", async () => {
  const { result, read, models, events } = await stage({
    lead: { ...lead, says: [batch("scout", "Auth", "Api"), "both are fine"] },
    scout: { says: ["found one", "found two"] },
  });
  expect(result).toMatchObject({ status: "ok", output: "both are fine" });
  expect(read("lead")[0]).toMatch(/^2\/2 tasks succeeded\.\n\n## Auth: ok \(run_\w+\/lead\/Auth\)/);
  expect(models["scout"]!.requests[0]!.messages[0]).toMatchObject({
    text: expect.stringMatching(/All about auth\.\n\nLook at \w+\.$/),
  });
  expect(startedPaths(events)).toEqual(["lead", "lead/Api", "lead/Auth"]);
});

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `finding ${at}`).join("\n");

test("a result of 24,000 characters arrives whole", async () => {
  const whole = "x".repeat(24_000);
  const { read } = await stage({ lead: { ...lead, says: [batch("scout", "A"), "ok"] }, scout: { says: [whole] } });
  expect(read("lead")[0]).toMatch(/^1\/1 tasks succeeded\.\n\n## A: ok \(run_\w+\/lead\/A\)\n\nx{24000}$/);
});

test("of a longer result the lead reads beginning and end at whole lines, and the named file contains all of it", async () => {
  const whole = numbered(5_000);
  const { read } = await stage({ lead: { ...lead, says: [batch("scout", "A"), "ok"] }, scout: { says: [whole] } });
  const text = read("lead")[0]!;
  expect(text.length).toBeLessThan(24_500);
  const note = /\n\n\.\.\. \[(\d+) of (\d+) characters omitted; full output \(\d+ bytes\): (.*)\]\n\n/;
  const [, omitted, all, file = ""] = note.exec(text)!;
  expect(Number(all)).toBe(whole.length);
  expect(Number(omitted)).toBeLessThan(whole.length - 23_000);
  expect(readFileSync(file, "utf8")).toBe(`${whole}\n`);
  const shown = text.split("\n").filter((line) => line.startsWith("finding"));
  const lines = new Set(whole.split("\n"));
  expect(shown.filter((line) => !lines.has(line))).toEqual([]);
  expect([shown[0], shown.at(-1)]).toEqual(["finding 0", "finding 4999"]);
});

test("results of several helpers share what fits the window of the lead", async () => {
  const tiers = { fast: { model: "lead", contextWindow: 8_000 } };
  const { read } = await stage(
    {
      lead: { tools: ["task"], model: "fast", says: [batch("scout", "A", "B"), "ok"] },
      scout: { says: [numbered(500), numbered(500)] },
    },
    { tiers },
  );
  expect(read("lead")[0]!.length).toBeLessThan(7_000);
  expect(read("lead")[0]!.match(/characters omitted/g)).toHaveLength(2);
});

test("the file of a result, and nothing else of the run's folder, is read by all file tools and by commands in the sandbox", async (context) => {
  const bwrap = await needs("bwrap");
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  const whole = numbered(5_000);
  const fileIn = (request: ModelRequest): string =>
    /full output[^:]*: ([^\]\s]+)\]/.exec(JSON.stringify(request.messages))?.[1] ?? "nothing";
  const { read, events } = await stage(
    {
      lead: {
        ...lead,
        says: [
          batch("scout", "A"),
          (request): ScriptedTurn => {
            const file = fileIn(request);
            const folder = dirname(file);
            const asked: [string, object][] = [
              ["read_file", { path: file, offset: 2500, limit: 1 }],
              ["grep_files", { path: file, pattern: "finding 2500$" }],
              ["grep_files", { path: file, pattern: "finding 25", filesOnly: true }],
              ["get_file_info", { path: file }],
              [
                "bash",
                {
                  command: `sed -n 2501p ${file}; ls ${folder} ${dirname(folder)}; echo more >> ${file}; cat ${dirname(dirname(folder))}/journal.jsonl`,
                },
              ],
              ["list_files", { path: folder }],
              ["grep_files", { path: folder, pattern: "finding" }],
              ["read_file", { path: join(dirname(dirname(folder)), "journal.jsonl") }],
              ["edit_file", { path: file, oldText: "finding 1\n", newText: "x" }],
              ["write_file", { path: file, content: "x" }],
            ];
            return { calls: asked.map(([name, input]) => ({ name, input })) };
          },
          "ok",
        ],
      },
      scout: { says: [whole] },
    },
    { permissions: { mode: "acceptEdits", allow: ["bash(*)"], sandbox: "required" } },
  );
  const [text, one, found, counted, info, shell, ...refused] = read("lead");
  const file = /full output[^:]*: ([^\]\s]+)\]/.exec(text!)![1]!;
  expect(one).toBe("2500\tfinding 2499\n[more lines follow: call read_file with offset 2501]");
  expect(found).toBe(`${file}:2501: finding 2500`);
  expect(counted).toBe(`${file}: 111`);
  expect(info).toContain(`path: ${file}\nkind: file`);
  expect(shell).toContain("finding 2500\n");
  expect(shell).toContain("Read-only file system");
  expect(shell).toMatch(/journal\.jsonl: No such file/);
  expect(refused).toHaveLength(5);
  for (const each of refused) expect(each).toMatch(/^DENIED|outside/);
  expect(readFileSync(file, "utf8")).toBe(`${whole}\n`);
  expect(events.filter(({ type }) => type === "tool.rejected")).toEqual([]);
});

test("a batch with an invalid task starts nothing", async () => {
  const { read, events } = await stage({
    lead: {
      ...lead,
      says: [
        call("task", {
          agent: "scout",
          tasks: [
            { id: "A", assignment: "go" },
            { id: "B", assignment: "go", agent: "ghost" },
          ],
        }),
        call("task", {
          agent: "scout",
          tasks: [
            { id: "A", assignment: "go" },
            { id: "a", assignment: "go" },
          ],
        }),
        "gave up",
      ],
    },
    scout: { says: [] },
  });
  expect(read("lead")[0]).toMatch(/^Unknown agent "ghost"\. Available: lead, scout/);
  expect(read("lead")[1]).toBe("Invalid tasks: Duplicate task ids detected (case-insensitive): A (indexes 0, 1)");
  expect(startedPaths(events)).toEqual(["lead"]);
});

test("agents that a lead may not start are not offered, and refused when requested", async () => {
  const { read, models } = await stage({
    lead: { ...lead, spawns: ["scout"], says: [batch("sage", "A"), batch("scout", "A"), "ok"] },
    scout: { says: ["fine"] },
    sage: { says: [] },
  });
  expect(read("lead")[0]).toBe("Cannot spawn 'sage'. Allowed: scout");
  const { description } = models["lead"]!.requests[0]!.tools.find(({ name }) => name === "task")!;
  expect(description).toContain("- scout");
  expect(description).not.toContain("- sage");
});

test("an agent that an environment variable blocks cannot be started", async () => {
  const { read } = await stage(
    { lead: { ...lead, says: [batch("scout", "A"), "ok"] }, scout: { says: [] } },
    { env: { PATH: "/bin", PI_BLOCKED_AGENT: "scout" } },
  );
  expect(read("lead")[0]).toMatch(/^Cannot spawn scout agent from within itself \(recursion prevention\)/);
});

test("at the maximum depth the tool is not shown, and a call of it is refused", async () => {
  const { shown, read, events } = await stage(
    {
      lead: { ...lead, says: [batch("mid", "A"), "ok"] },
      mid: { ...lead, says: [batch("scout", "B"), "had to do it myself"] },
      scout: { says: [] },
    },
    {},
    { maxDepth: 1 },
  );
  expect(shown("lead")).toContain("task");
  expect(shown("mid")).not.toContain("task");
  expect(read("mid")[0]).toMatch(/^DENIED: Tool "task" is not available for task type "mid"/);
  expect(events.find((event) => event.type === "tool.denied")).toMatchObject({
    path: "lead/A",
    rule: "the maximum delegation depth of 1 is reached",
  });
});

const spellings = Object.entries(delegationSpellings)
  .flatMap(([name, others]) => [name, ...others])
  .filter((name) => facadeOf(name) !== undefined);

test.each([...spellings, "*"])(
  "at the maximum depth an agent with the tool %s is not shown it, a call of it is refused, and spawns are empty",
  async (spelling) => {
    const named = spelling === "*" ? "task" : spelling;
    const { shown, read, events } = await stage(
      {
        lead: { ...lead, says: [batch("mid", "A"), "ok"] },
        mid: { tools: ["allowed", spelling], spawns: "*", says: [call(named, {}), call("allowed", {}), "alone"] },
        scout: { says: [] },
      },
      {
        tools: [
          defineTool({
            name: "allowed",
            description: "the agents that the caller may start",
            input: z.object({}),
            effect: "read",
            run: (_, { spawns }) => JSON.stringify(spawns),
          }),
        ],
      },
      { maxDepth: 1 },
    );
    const starting = shown("mid").filter((name) => facadeOf(name) !== undefined || name === "TaskOutput");
    expect([starting, shown("mid").includes("allowed")]).toEqual([[], true]);
    expect(read("mid")).toEqual([expect.stringMatching(/^DENIED: /), "[]"]);
    expect(startedPaths(events)).toEqual(["lead", "lead/A"]);
  },
);

test("without spawns and without the delegation tool an agent cannot delegate, even with every other tool", async () => {
  const { shown, events } = await stage({
    lead: { tools: ["*"], says: [batch("scout", "A"), "ok"] },
    scout: { says: [] },
  });
  expect(shown("lead")).not.toContain("task");
  expect(startedPaths(events)).toEqual(["lead"]);
});

test("in plan mode helpers are read-only, cannot delegate, and are told why", async () => {
  const { shown, models, read } = await stage(
    {
      lead: { ...lead, says: [batch("worker", "A"), "planned"] },
      worker: {
        tools: ["read_file", "write_file", "bash", "task"],
        says: [call("write_file", { path: "x", content: "y" }), batch("lead", "B"), "a plan"],
      },
    },
    { permissions: { mode: "plan" } },
  );
  expect(shown("lead")).toContain("task");
  expect(shown("worker")).toEqual(["read_file"]);
  expect(models["worker"]!.requests[0]!.system).toContain(prompts.planMode.trim());
  expect(read("worker").every((text) => text.startsWith("DENIED") || text.startsWith("Unknown tool"))).toBe(true);
});

test("a helper in plan mode keeps its model, thinking, schema and sampling", async () => {
  const requested = async (mode: "plan" | "default") => {
    const { models, result } = await stage(
      {
        lead: { ...lead, says: [batch("worker", "A"), "planned"] },
        worker: {
          tools: ["read_file", "write_file"],
          thinking: "high",
          temperature: 0.3,
          output: { type: "object", title: "the worker's own" },
          says: [call("complete_task", { result: {} })],
        },
      },
      { permissions: { mode } },
    );
    const { model, thinking, temperature, tools } = models["worker"]!.requests[0]!;
    return { model, thinking, temperature, tools, status: result.status };
  };
  const { tools, ...settings } = await requested("plan");
  expect(settings).toEqual({ model: "worker", thinking: "high", temperature: 0.3, status: "ok" });
  expect(tools.map(({ name }) => name)).toEqual(["read_file", "complete_task"]);
  expect(JSON.stringify(tools[1]!.input)).toContain('"title":"the worker\'s own"');
  const { tools: all, ...usual } = await requested("default");
  expect([usual, all.at(-1)]).toEqual([settings, tools.at(-1)]);
});

test("added and removed agents are reported with the next answer", async () => {
  const cwd = tempFolder();
  const folder = join(cwd, ".subcrew/agents");
  mkdirSync(folder, { recursive: true });
  const write = (name: string): void =>
    writeFileSync(join(folder, `${name}.md`), `---\nname: ${name}\ndescription: is ${name}\n---\nWork.`);
  write("old");
  const { read } = await stage(
    {
      lead: {
        ...lead,
        says: [
          () => {
            write("fresh");
            rmSync(join(folder, "old.md"));
            return { calls: [{ name: "task", input: { agent: "scout", tasks: [{ id: "A", assignment: "go" }] } }] };
          },
          batch("scout", "B"),
          "ok",
        ],
      },
      scout: { says: ["one", "two"] },
    },
    { cwd, discover: true, trusted: true, userHome: tempFolder() },
  );
  expect(read("lead")[0]).toContain(
    "[Agents have changed. New agents that you can start now: fresh. No longer available: old.]",
  );
  expect(read("lead")[1]).not.toContain("Agents have changed");
});

test("the result of an agent that delegates is never reused", async () => {
  const model = scripted(batch("scout", "A"), "first", batch("scout", "A"), "second");
  const crew = createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    env: { PATH: "/bin" },
    discover: false,
    agents: [
      defineAgent({ name: "lead", description: "", instructions: "", model: "lead", tools: ["read_file", "task"] }),
      defineAgent({ name: "scout", description: "", instructions: "", model: "scout", tools: ["read_file"] }),
    ],
    models: { lead: model, scout: scripted("found", "found again") },
  });
  const ask = async () => (await crew.run({ mode: "single", agent: "lead", task: "Lead." }, { reuse: true })).output;
  expect([await ask(), await ask()]).toEqual(["first", "second"]);
});

test.each([
  ["agent", ["agent", "call", "session"], "agent"],
  ["agent", ["call", "session"], "call"],
  ["agent", ["session"], "session"],
  ["call", ["agent", "call", "session"], "call"],
  ["call", ["agent", "session"], "agent"],
  ["call", ["agent"], "agent"],
  ["call", ["call", "session"], "call"],
  ["call", ["session"], "session"],
] as const)("with schemaPrecedence %s and schemas of %j, the schema of the %s is used", async (first, all, counts) => {
  const given = (who: (typeof all)[number], key: string) =>
    (all as readonly string[]).includes(who) ? { [key]: { type: "object", title: who } } : {};
  const handIn = () => call("complete_task", { result: {} });
  const { models } = await stage(
    {
      lead: {
        ...lead,
        ...given("session", "output"),
        says: [
          call("task", { agent: "worker", ...given("call", "schema"), tasks: [{ id: "A", assignment: "go" }] }),
          handIn(),
        ],
      },
      worker: { ...given("agent", "output"), says: [handIn()] },
    },
    { schemaPrecedence: first },
  );
  const finish = models["worker"]!.requests[0]!.tools.find(({ name }) => name === "complete_task");
  expect(JSON.stringify(finish)).toContain(`"title":"${counts}"`);
});
