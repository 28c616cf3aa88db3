import { chmodSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type Agent, createCrew, defineTool, type Event } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { needs } from "../../needs.ts";
import { call, play } from "../../support/play.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const write = (path: string, content = "new"): ReturnType<typeof call> => call("write_file", { path, content });

test("in an unattended run, a call that needs approval is refused, and the message names the rule that allows it", async () => {
  const { denied, cwd, outcome } = await play([
    write("a.txt"),
    call("bash", { command: "npm test" }),
    call("http_get", { url: "https://example.com/x" }),
  ]);
  expect(denied.map(({ tool, rule }) => [tool, rule])).toEqual([
    ["write_file", "mode default"],
    ["bash", "mode default"],
    ["http_get", "mode default"],
  ]);
  expect(denied[0]!.text).toBe(
    "DENIED: write_file was not carried out: the call changes files, and nobody is available to ask (mode default).",
  );
  expect(denied[0]).toMatchObject({ target: "a.txt", unasked: true });
  expect(denied[0]!.hint).toBe(
    "Allow the call with --allow 'write_file(a.txt)', or accept all edits with --permission-mode acceptEdits.",
  );
  expect(denied[1]!.hint).toContain("--allow 'bash(npm test)'");
  expect(denied[2]!.hint).toContain("--allow 'http_get(https://example.com/x)'");
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  expect(outcome).toMatchObject({ status: "ok", output: "done" });
});

test("the answer yes applies only to this call, and the answer no reaches the model with its reason", async () => {
  const { questions, denied, ended, cwd } = await play([write("a.txt"), write("a.txt", "two"), write("b.txt")], {
    answer: (question) =>
      question.includes("a.txt") ? { approve: true } : { approve: false, text: "not that one", by: "the boss" },
  });
  expect(questions.length).toBe(3);
  expect(ended.length).toBe(2);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("two");
  expect(denied).toMatchObject([
    {
      tool: "write_file",
      rule: "the person",
      text: "DENIED: the boss said no: not that one. Do not try it in another way.",
    },
  ]);
});

test('TOOL-08: the answer "always" applies only to the call that was shown', async () => {
  const { questions, ended } = await play(
    [write("a.txt"), write("a.txt", "two"), write("sub/a.txt"), call("delete_file", { path: "a.txt" })],
    { answer: () => ({ approve: true, always: true }) },
  );
  expect(questions.map((question) => question.split("\n")[1])).toEqual([
    "  path: a.txt",
    "  path: sub/a.txt",
    "  path: a.txt",
  ]);
  expect(ended.every(({ error }) => !error)).toBe(true);
});

test("only the approved call is executed, and a question shows all of it", async () => {
  const content = `line\n\u001b[2K\r\u202e\u200bx${" ".repeat(5_000)}rm -rf\n${"y".repeat(20_000)}`;
  const { questions, cwd } = await play([write("a.txt", content)], { answer: () => ({ approve: true }) });
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(content);
  expect(questions[0]).toContain("\\u{1b}[2K\\r\\u{202e}\\u{200b}x[5000 blanks]rm -rf");
  expect(questions[0]).toContain("y".repeat(20_000));
  expect(questions[0]).toContain(
    "worker wants to use write_file (the call changes files):\n  path: a.txt\n  content (25020 characters):\n    · line\n    · ",
  );
});

test("a late answer to one question does not answer another, also when the model repeats an id", async () => {
  const again = { calls: [{ id: "c1", name: "write_file", input: { path: "a.txt", content: "one" } }] };
  const { events } = await play([again, { calls: [{ id: "c1", name: "delete_file", input: { path: "a.txt" } }] }], {
    answer: () => ({ approve: true }),
  });
  const opened = events.flatMap((event) => (event.type === "gate.opened" ? [event.call] : []));
  expect(new Set(opened).size).toBe(2);
});

test("the approvals for several calls of one turn are requested one after the other", async () => {
  let open = 0;
  let most = 0;
  const turn = { calls: ["a", "b", "c"].map((name) => ({ name: "write_file", input: { path: name, content: name } })) };
  const { questions, ended } = await play([turn], {
    answer: () => {
      most = Math.max(most, ++open);
      open--;
      return { approve: true };
    },
  });
  expect([questions.length, ended.length, most]).toEqual([3, 3, 1]);
});

test.each([
  ["plan", { read_file: "ok", write_file: "no", bash: "no" }],
  ["dontAsk", { read_file: "ok", write_file: "no", bash: "no" }],
  ["acceptEdits", { read_file: "ok", write_file: "ok", bash: "no" }],
] as const)("in an unattended run the mode %s allows these calls: %j", async (mode, want) => {
  const cwd = tempFolder({ "a.txt": "a" });
  const calls = [call("read_file", { path: "a.txt" }), write("b.txt"), call("bash", { command: "touch c.txt" })];
  const { denied, ended } = await play(calls, { cwd, permissions: { mode } });
  const got = {
    ...Object.fromEntries(denied.map(({ tool }) => [tool, "no"])),
    ...Object.fromEntries(ended.map(({ tool }) => [tool, "ok"])),
  };
  expect(got).toEqual(want);
});

test("rules: deny wins over ask, ask over allow, and a pattern applies to the argument", async () => {
  const permissions = {
    allow: ["write_file(src/**)", "write_file(docs/*.md)"],
    ask: ["write_file(src/secret/**)"],
    deny: ["write_file(src/secret/key)"],
  };
  const paths = [
    "src/a.ts",
    "src/x/y.ts",
    "docs/a.md",
    "docs/x/a.md",
    "other.txt",
    "src/secret/note",
    "src/secret/key",
    "src/secret/KEY",
  ];
  const { denied, cwd } = await play(
    paths.map((path) => write(path)),
    { permissions },
  );
  expect(denied.map(({ rule, hint = "" }) => [/'write_file\((.*?)\)'/.exec(hint)?.[1] ?? "", rule])).toEqual([
    ["docs/x/a.md", "mode default"],
    ["other.txt", "mode default"],
    ["", "ask write_file(src/secret/**)"],
    ["", "deny write_file(src/secret/key)"],
    ["", "deny write_file(src/secret/key)"],
  ]);
  expect(paths.filter((path) => existsSync(join(cwd, path)))).toEqual(["src/a.ts", "src/x/y.ts", "docs/a.md"]);
});

test("a rule that names no tool is reported as a mistake of the caller, before anything runs", async () => {
  await expect(play([], { permissions: { deny: ["wrte_file(x)"] } })).rejects.toMatchObject({
    code: "UNKNOWN_TOOL",
    hint: 'Did you mean "write_file"?',
  });
  await expect(play([], { permissions: { allow: ["bash()"] } })).rejects.toMatchObject({ code: "BAD_INPUT" });
});

/** Starts another agent, as the delegation tools do. */
const start = defineTool({
  name: "start",
  description: "starts",
  input: z.object({ agent: z.string(), more: z.record(z.string(), z.unknown()).optional() }),
  effect: "write",
  does: "spawn",
  run: async ({ agent, more }, { delegate }) => {
    const outcome = await delegate({ mode: "single", agent, task: "Help.", ...more });
    return outcome.status === "ok"
      ? outcome.output
      : `${outcome.status}: ${outcome.status === "failed" ? outcome.fault.message : ""}`;
  },
});

test("TOOL-07, TOOL-10: with delegation: ceiling, the limits of a parent apply to all agents below it, at every depth", async () => {
  const { createCrew, defineAgent } = await import("../../../src/index.ts");
  const { scripted } = await import("../../../src/models/scripted/scripted.ts");
  const cwd = tempFolder();
  const agent = (name: string, more: object) =>
    defineAgent({ name, description: name, instructions: "Work.", model: name, ...more });
  const attempt = [write("a.txt"), call("bash", { command: "touch b.txt" })];
  const crew = createCrew({
    cwd,
    home: tempFolder(),
    env: { PATH: "/usr/bin:/bin" },
    discover: false,
    tools: [start],
    delegation: "ceiling",
    permissions: { mode: "bypass" },
    agents: [
      agent("lead", { tools: ["start", "write_file", "read_file"], permission: "default" }),
      agent("helper", { permission: "bypass" }),
      agent("deepest", { tools: ["*"], permission: "bypass" }),
    ],
    models: {
      lead: scripted(call("start", { agent: "helper" }), "done"),
      helper: scripted(
        ...attempt,
        call("start", { agent: "deepest", more: { tools: ["bash", "write_file"] } }),
        "done",
      ),
      deepest: scripted(...attempt, "done"),
    },
    unattended: true,
  });
  const run = crew.run({ mode: "single", agent: "lead", task: "Go." }, { maxDepth: 5 });
  const denied: string[] = [];
  for await (const event of run)
    if (event.type === "tool.denied") denied.push(`${event.path}: ${event.tool}: ${event.rule}`);
  await run;
  expect(denied).toEqual([
    "lead/helper: write_file: mode default",
    "lead/helper: bash: the parent of helper may not use the tool",
    "lead/helper/deepest: write_file: mode default",
    "lead/helper/deepest: bash: the parent of deepest may not use the tool",
  ]);
});

test("SBX-12: an agent cannot start another one in a folder outside", async () => {
  const outside = tempFolder({ "secret.txt": "canary" });
  const { events } = await play([call("start", { agent: "worker", more: { cwd: outside } })], {
    tools: [start],
    permissions: { mode: "bypass" },
  });
  expect(JSON.stringify(events)).toContain("is outside of the folders this run may use");
});

test("four refusals without effect: a forbidden tool, an unknown tool, a forbidden tool under an alias, and a tool that the parent lacks", async () => {
  const cwd = tempFolder();
  const model = scripted(
    call("start", { agent: "helper" }),
    call("delete_file", { path: "a.txt" }),
    call("no_such_tool", {}),
    call("Bash", { command: "touch a.txt" }),
    write("a.txt"),
    "helped",
    "done",
  );
  const agent = (name: string, tools: readonly string[]): Agent => ({
    name,
    description: name,
    instructions: "Work.",
    tools,
  });
  const crew = createCrew({
    cwd,
    home: tempFolder(),
    env: { PATH: "/usr/bin:/bin", HOME: tempFolder() },
    discover: false,
    agents: [
      { ...agent("worker", ["read_file", "delete_file", "bash", "start"]), spawns: ["helper"] },
      agent("helper", ["read_file", "write_file"]),
    ],
    tools: [start],
    models: { m: model },
    model: "m",
    delegation: "ceiling",
    permissions: { mode: "bypass", sandbox: "off" },
    unattended: true,
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "Go." });
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  expect(await run).toMatchObject({ status: "ok", output: "done" });
  expect(model.requests[1]!.tools.map(({ name }) => name)).toEqual(["read_file"]); // the tools that the model is shown
  const denied = events.filter((event) => event.type === "tool.denied");
  expect(denied.map(({ tool, rule }) => [tool, rule])).toEqual([
    ["delete_file", "tools of helper"],
    ["no_such_tool", "no such tool"],
    ["Bash", "tools of helper"],
    ["write_file", "the parent of helper may not use the tool"],
  ]);
  const results = model.requests[5]!.messages.flatMap((message) => (message.role === "tool" ? message.results : []));
  expect(results.map(({ error }) => error)).toEqual([true, true, true, true]);
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
});

test("an agent's own ask rules apply despite the user's allow rules, and deny in an unattended run", async () => {
  const rules = [
    [
      { tool: "write_file", says: "ask" },
      { tool: "write_file", pattern: "docs/**", says: "allow" },
      { tool: "write_file", pattern: "docs/fixed/**", says: "deny" },
    ],
  ] as const;
  const writes = [write("docs/a.md"), write("src/a.ts"), write("docs/fixed/b.md")];
  const alone = await play(writes, { agent: { rules }, permissions: { mode: "bypass" } });
  expect(alone.denied.map(({ rule, text }) => [rule, text.includes("nobody is available to ask")])).toEqual([
    ["rules of worker", true],
    ["rules of worker", false],
  ]);
  expect(alone.ended).toHaveLength(1);
  const asked = await play(writes, {
    agent: { rules },
    permissions: { mode: "bypass" },
    answer: () => ({ approve: true }),
  });
  expect([asked.questions.length, asked.ended.length, asked.denied.length]).toEqual([1, 2, 1]);
});

test("an agent whose file limits a tool to some arguments may use it only with these", async () => {
  const { denied, ended } = await play(
    [
      write("docs/a.md"),
      write("src/a.ts"),
      call("bash", { command: "echo a" }),
      call("bash", { command: "echo a; touch x" }),
    ],
    {
      agent: { tools: ["write_file(docs/**)", "bash(echo *)"] },
      permissions: { mode: "bypass", sandbox: "off" },
    },
  );
  expect(denied.map(({ rule }) => rule)).toEqual(["tools of worker", "tools of worker"]);
  expect(ended.map(({ tool }) => tool)).toEqual(["write_file", "bash"]);
});

test("TOOL-12: a tool that does not declare its subjects needs approval unless it is read-only", async () => {
  const tool = (name: string, effect: "read" | "write") =>
    defineTool({ name, description: name, input: z.object({}), effect, run: () => "ran" });
  const { denied, ended } = await play([call("looks", {}), call("acts", {})], {
    tools: [tool("looks", "read"), tool("acts", "write")],
  });
  expect([ended.map(({ tool: name }) => name), denied.map(({ tool: name }) => name)]).toEqual([["looks"], ["acts"]]);
  const allowed = await play([call("acts", {})], { tools: [tool("acts", "write")], permissions: { allow: ["acts"] } });
  expect(allowed.ended).toMatchObject([{ tool: "acts", text: "ran" }]);
});

test("other writable folders are addressed by their absolute path, also in rules", async () => {
  const other = tempFolder({ "a.txt": "a" });
  const calls = [
    write(`${other}/b.txt`),
    write(`${other}/.git/config`),
    call("read_file", { path: `${other}/a.txt` }),
    write(`${other}-evil/x`),
  ];
  const { denied, ended } = await play(calls, {
    permissions: { writableRoots: [other], allow: [`write_file(${other}/**)`] },
  });
  expect(denied.map(({ rule }) => rule)).toEqual(["protected .git", "outside"]);
  expect(ended.map(({ tool, error }) => [tool, error])).toEqual([
    ["write_file", false],
    ["read_file", false],
  ]);
  expect(readFileSync(join(other, "b.txt"), "utf8")).toBe("new");
});

test("a command that needs the network needs approval, and gets the network only if the answer says so", async (context) => {
  const bwrap = await needs("bwrap");
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  const server = createServer((socket) => socket.end("hello\n"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const cwd = tempFolder({
    curl: `#!/bin/bash\nexec 3<>/dev/tcp/127.0.0.1/${port} && read -r line <&3; echo "$line"; [ "$line" ]\n`,
  });
  chmodSync(join(cwd, "curl"), 0o755);
  const command = "./curl";
  const starved = "bash -c 'echo getaddrinfo ENOTFOUND; exit 1'";
  const { questions, ended, events } = await play(
    [command, `env -i ${command}`, starved, starved].map((line) => call("bash", { command: line })),
    {
      cwd,
      permissions: { allow: ["bash"] },
      answer: (question) => ({ approve: true, ...(question.includes("env -i") && { network: true }) }),
    },
  );
  // Neither a rule that allows a command nor a plain yes gives it the network.
  expect(ended.map(({ text, error }) => [error, text.includes("hello")])).toEqual([
    [true, false],
    [false, true],
    [true, false],
    [true, false],
  ]);
  expect(ended[2]!.text).toContain("the sandbox has no network");
  expect(questions.map((text) => /unless you allow network access/.test(text))).toEqual([true, true, true]);
  expect(events.filter((event) => event.type === "gate.opened" && event.offersNetwork)).toHaveLength(3);
});

test("an answer does not override a rule against the network", async () => {
  const { questions, events } = await play([call("bash", { command: "curl http://127.0.0.1:1" })], {
    permissions: { deny: ["network"] },
    answer: () => ({ approve: true, network: true }),
  });
  expect(questions).toHaveLength(1);
  expect(questions[0]).not.toContain("with network");
  expect(events.some((event) => event.type === "gate.opened" && event.offersNetwork)).toBe(false);
});
