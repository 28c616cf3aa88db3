import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { place, script } from "../../command.ts";

const use = (name: string, input: object): object => ({ calls: [{ name, input }] });
const write = use("write_file", { path: "a.txt", content: "new\n" });
const bash = (command: string): object => use("bash", { command });

/** Runs an agent whose model makes these calls and then ends. */
function play(turns: readonly object[], args: readonly string[] = [], files: Readonly<Record<string, string>> = {}) {
  const there = place({ ...files, "turns.json": script(...turns, "done") });
  const ended = there.run(["run", "general-purpose", "Go.", "--model", "scripted:turns.json", "--json", ...args]);
  return ended.then(({ stdout, ...rest }) => {
    const events = stdout
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const denied = events
      .filter(({ type }) => type === "tool.denied")
      .map(({ text, hint }) => `${String(text)} ${String(hint)}`);
    const ended = events.filter(({ type }) => type === "tool.ended").map(({ text }) => String(text));
    return { ...rest, events, denied, ended, has: (file: string) => existsSync(join(there.workspace, file)), there };
  });
}

test("without a terminal a call that needs approval is refused, and the error names the flag that allows it", async () => {
  const { denied, has, code } = await play([write, bash("npm test")]);
  expect(denied[0]).toContain("--allow 'write_file(a.txt)', or accept all edits with --permission-mode acceptEdits");
  expect(denied[1]).toContain("--allow 'bash(npm test)'");
  expect([has("a.txt"), code]).toEqual([false, 3]);
});

describe("--yes", () => {
  const rulesOf = "---\nname: general-purpose\ndescription: d\npermission:\n  edit: ask\n---\nWork.\n";

  test.each<[string, object, readonly string[], boolean]>([
    ["a call that needs an approval", write, [], true],
    ["a call that a rule of the user asks about", write, ["--permission-mode", "bypass", "--ask", "write_file"], true],
    ["with --unattended", write, ["--unattended"], true],
    ["not a denied call", write, ["--deny", "write_file"], false],
    ["not a call in a mode that does not ask", write, ["--permission-mode", "dontAsk"], false],
    ["not a protected path", use("write_file", { path: ".git/config", content: "x" }), [], false],
    ["not a secret path", use("write_file", { path: ".ssh/id_rsa", content: "x" }), [], false],
  ])("answers %s", async (_, call, args, made) => {
    const { has, events, code } = await play([call], ["--yes", ...args]);
    expect(has((call as { calls: { input: { path: string } }[] }).calls[0]!.input.path)).toBe(made);
    const answers = events.filter(({ type }) => type === "gate.answered");
    expect(answers).toMatchObject(made ? [{ answer: { approve: true, by: "--yes" } }] : []);
    expect(code).toBe(0);
  });

  test("does not answer what the agent's own file asks about, nor a question of the agent", async () => {
    const files = { ".opencode/agents/general-purpose.md": rulesOf };
    const asks = use("ask", { question: "Which?" });
    const { has, ended, code, denied } = await play([asks, write], ["--yes", "--trust"], files);
    expect(ended[0]).toContain("Nobody is available to answer");
    expect([has("a.txt"), denied.length, code]).toEqual([false, 1, 3]);
  });

  test("does not answer for a line that mentions what a deny rule names", async () => {
    const line = "touch b.txt && echo rm";
    const args = ["--yes", "--permission-mode", "bypass", "--deny", "bash(rm *)", "--sandbox", "off"];
    const { has, denied } = await play([bash(line)], args);
    expect([has("b.txt"), denied.length]).toEqual([false, 1]);
    expect(denied[0]).toContain("the line mentions `rm`, which a rule denies, and nobody answered");
    expect(denied[0]).toContain(`--allow 'bash(=${line})'`);
    const named = await play([bash(line)], [...args, "--allow", `bash(=${line})`]);
    expect([named.has("b.txt"), named.denied]).toEqual([true, []]);
  });

  test("also answers in the background", async () => {
    const there = place({ "turns.json": script(write, "done") });
    const args = ["run", "general-purpose", "Go.", "--model", "scripted:turns.json", "--yes", "--bg", "--quiet"];
    const { stdout: id } = await there.run(args);
    expect((await there.run(["wait", id.trim()])).code).toBe(0);
    expect(existsSync(join(there.workspace, "a.txt"))).toBe(true);
  });
});

describe("a change that was refused because nobody could be asked", () => {
  const npm = bash("npm test");

  test("stands in the last line and in the JSON, and the exit code is 3, whatever the answer says", async () => {
    const there = place({ "turns.json": script(write, npm, "All done.") });
    const args = ["run", "general-purpose", "Go.", "--model", "scripted:turns.json"];
    const { code, stderr } = await there.run(args);
    expect(code).toBe(3);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(
      "not done: 2 changes refused, because nobody could be asked: write_file a.txt, bash npm test",
    );
    expect(stderr).toContain("--allow 'write_file(a.txt)'");
    const quiet = await there.run([...args, "--quiet"]);
    expect([quiet.code, quiet.stderr.split("\n").length]).toEqual([3, 2]);
    const json = await there.run([...args, "-o", "json"]);
    const { status, refused, nodes } = JSON.parse(json.stdout) as Record<string, unknown>;
    expect([json.code, status]).toEqual([3, "ok"]);
    expect(refused).toMatchObject([
      { tool: "write_file", target: "a.txt", unasked: true, hint: expect.stringContaining("--allow") as string },
      { tool: "bash", target: "npm test", unasked: true },
    ]);
    expect(JSON.stringify(nodes)).not.toContain('"write_file":1');
  });

  test.each([
    [[write], ["--deny", "write_file"], 0],
    [[write], ["--permission-mode", "plan"], 0],
    [[bash("ls; cat turns.json")], ["--ask", "bash"], 0],
  ])("%j with %j: the exit code is %s", async (turns, args, code) => {
    expect((await play(turns, args)).code).toBe(code);
  });
});

test.each([
  [["--allow", "write_file(a.txt)"], true],
  [["--allow", "Write(*.txt)"], true],
  [["--permission-mode", "acceptEdits"], true],
  [["--permission-mode", "accept-edits"], true],
  [["--permission-mode", "bypass"], true],
  [["--permission-mode", "plan", "--allow", "write_file"], false],
  [["--permission-mode", "bypass", "--deny", "write_file(*.txt)"], false],
  [["--permission-mode", "bypass", "--ask", "write_file"], false],
  [["--allow", "write_file(b.txt)", "--allow", "write_file(src/**)"], false],
])("with %j, the file is written: %s", async (args, written) => {
  expect((await play([write], args)).has("a.txt")).toBe(written);
});

test.each([
  [["--permission-mode", "yolo"], 2, "--permission-mode cannot be"],
  [["--allow", "wrte_file"], 2, "does not name a known tool"],
  [["--sandbox", "maybe"], 2, "sandbox"],
])("%j is refused with exit code %s", async (args, code, words) => {
  const ended = await play([write], args);
  expect(ended.code).toBe(code);
  expect(JSON.stringify(ended.events) + ended.stderr).toContain(words);
});

test("settings in the user's file apply, and flags add to them", async () => {
  const there = place({ "turns.json": script(write, use("write_file", { path: "b.txt", content: "b" }), "done") });
  const args = ["run", "general-purpose", "Go.", "--model", "scripted:turns.json", "--json"];
  const state = there.env["SUBCREW_HOME"]!;
  const { mkdirSync, writeFileSync } = await import("node:fs");
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, "config.yaml"), 'permissions:\n  mode: acceptEdits\n  deny: ["write_file(b.txt)"]\n');
  await there.run(args);
  expect([existsSync(join(there.workspace, "a.txt")), existsSync(join(there.workspace, "b.txt"))]).toEqual([
    true,
    false,
  ]);
  await there.run([...args, "--allow", "write_file(b.txt)"]);
  expect(existsSync(join(there.workspace, "b.txt"))).toBe(false);
});

describe("commands", () => {
  let bwrap: Need;
  beforeAll(async () => {
    bwrap = await needs("bwrap");
  }, needsTimeout);

  test("a read-only command runs in the sandbox without approval", async (context) => {
    if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
    const { ended, events } = await play([bash("cat a.txt | wc -c; ls")], [], { "a.txt": "hello\n" });
    expect(ended[0]).toBe("6\na.txt\nturns.json");
    expect(events.find(({ type }) => type === "note")).toMatchObject({
      text: "sandbox: full (bubblewrap: files, network, processes)",
    });
  });

  test("what the sandbox forbids is said once, as the sandbox", async (context) => {
    if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
    const { ended } = await play([bash("touch /usr/x")], ["--allow", "bash(touch *)"]);
    expect(ended[0]).toContain("[the sandbox lets commands write only in the working folder and /tmp]");
    expect(ended[0]!.match(/sandbox/g)).toHaveLength(1);
  });

  test("a refused compound command names the part that asked, and the named flags allow it", async (context) => {
    if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
    const turn = bash("cat turns.json; make a && FOO=1 make b > b.txt");
    const there = place({ "turns.json": script(turn, "done") });
    const args = ["run", "general-purpose", "Go.", "--model", "scripted:turns.json"];
    const { stderr, code } = await there.run(args);
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining("in its part `make a`, and nobody is available to ask"),
    ]);
    const [, rule = ""] = /with --allow '(.*)'\.$/m.exec(stderr) ?? [];
    const again = await there.run([...args, "--allow", rule.replaceAll("'\\''", "'")]);
    expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining("denied")]);
  });

  test("--sandbox off is reported in every run with commands, which then need a rule", async () => {
    const { ended, denied, events } = await play(
      [bash("echo a"), bash("ls")],
      ["--sandbox", "off", "--allow", "bash(echo *)"],
    );
    expect([ended, denied.length]).toEqual([["a"], 1]);
    expect(events.find(({ type, code }) => type === "warning" && code === "SANDBOX")).toBeDefined();
  });

  test("race --accept-cmd: the command from the command line needs no rule, and its exit code decides", async (context) => {
    if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
    const there = place({ "red.json": script("red"), "blue.json": script({ text: "blue", delayMs: 200 }) });
    const args = ["race", "--agents", "explore", "--models", "scripted:red.json,scripted:blue.json", "Which?"];
    const { code, stdout } = await there.run([...args, "--accept-cmd", "grep -q blue && test -z ''"]);
    expect([code, stdout.trim()]).toEqual([0, "blue"]);
    const none = await there.run([...args, "--accept-cmd", "echo nobody likes it; false"]);
    expect([none.code === 0, `${none.stdout}${none.stderr}`.includes("nobody likes it")]).toEqual([false, true]);
  });
});

test("RES-10: a refused call stays refused when the run is resumed with more rights", async () => {
  const there = place({ "turns.json": script({ delayMs: 600_000, text: "never" }) });
  const started = there.start([
    "run",
    "general-purpose",
    "Go.",
    "--model",
    "scripted:turns.json",
    "--permission-mode",
    "plan",
    "--json",
  ]);
  await started.until('"turn.started"');
  started.child.kill("SIGKILL");
  const { stdout } = await started.ended;
  const id = /run_\w{12}/.exec(stdout)?.[0] ?? "";
  const { mkdirSync, writeFileSync } = await import("node:fs");
  const state = there.env["SUBCREW_HOME"]!;
  mkdirSync(state, { recursive: true });
  writeFileSync(join(there.workspace, "turns.json"), script(write, "done"));
  writeFileSync(join(state, "config.yaml"), "permissions:\n  mode: bypass\n");
  await there.run(["resume", id]);
  const journal = readFileSync(join(state, "runs", id, "journal.jsonl"), "utf8");
  expect(journal).toContain('"type":"tool.denied"');
  expect(existsSync(join(there.workspace, "a.txt"))).toBe(false);
});
