import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { place, script } from "../../command.ts";

const ESC = "\u001b";
const asked = ["run", "explore", "Where is it?", "--model", "scripted:turns.json"];

describe("one task", () => {
  test("stdout is exactly the output and a newline, and everything else is on stderr", async () => {
    const there = place({ "turns.json": script("It is in a.ts:1.") });
    const { code, stdout, stderr } = await there.run(asked, { shared: false });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "It is in a.ts:1.\n" });
    expect(stderr).toMatch(
      /^run {5}run_\w{12} {2}1 task\nstart {3}explore\nlimit {3}up to 100 turns and 30m0s for each task\nok {6}explore {2}\d+ms · 1 turn · [\d.k]+ tokens · unknown price · scripted:turns.json\ndone in /,
    );
  });

  test("the offline model answers about the files in the folder, for free", async () => {
    const there = place({ "src/login.ts": "export function login(user: string) {\n  return check(user);\n}\n" });
    const { code, stdout, stderr } = await there.run(["run", "explore", "Where is login defined?"]);
    expect(code).toBe(0);
    expect(stdout).toContain("src/login.ts:1");
    expect(stderr).toMatch(/grep_files×\d/);
    expect(stderr).toMatch(/done in .* · free · run_\w{12}\n/);
  });

  test("a known price is shown, and tool calls are counted", async () => {
    const calls = ["glob", "list_files", "list_files"].map((name) => ({
      name,
      input: name === "glob" ? { pattern: "*" } : {},
    }));
    const there = place({ "turns.json": script({ calls, cost: 0.01 }, { text: "two", cost: 0.02 }) });
    const { stderr } = await there.run(asked);
    expect(stderr).toContain("$0.0300 · list_files×2, glob×1 · scripted:turns.json");
  });

  test("the summary states what was reused and how much that saved", async () => {
    const there = place({ "turns.json": script({ text: "found", cost: 0.25 }) });
    const first = await there.run([...asked, "--reuse"]);
    expect(first.stderr).not.toContain("reused:");
    const { code, stdout, stderr } = await there.run([...asked, "--reuse"]);
    const id = /run_\w{12}/.exec(first.stderr)![0];
    expect({ code, stdout }).toEqual({ code: 0, stdout: "found\n" });
    expect(stderr).toMatch(
      new RegExp(`\\nreused: explore from ${id}/explore \\(saved [\\d.k]+ tokens · \\$0\\.2500\\)\\n`),
    );
    expect(stderr).toMatch(/done in .* · nothing spent · run_\w{12}\n/);
  });

  test("--fork starts from the conversation of an earlier task, with its agent or another one", async () => {
    const there = place({ "turns.json": script("It is in a.ts:1.") });
    const { stderr } = await there.run(asked);
    const id = /run_\w{12}/.exec(stderr)![0];
    const echo = [...asked.slice(0, 1), "--fork", id];
    const forked = await there.run([...echo, "And who calls it?", "--model", "offline"]);
    expect(forked.code, forked.stderr).toBe(0);
    expect(forked.stderr).toMatch(
      new RegExp(`fork {4}explore {2}starts from the conversation of ${id}/explore, turn 1\\n`),
    );
    const other = await there.run([...echo, "plan", "And who calls it?", "--model", "offline"]);
    expect(other.stderr).toMatch(/fork {4}plan {2}starts from/);
    const wrong = await there.run(["run", "--fork", `${id}/build`, "And?"]);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`The task "build" was not found in the run "${id}".`),
    });
    const plan = JSON.stringify({ nodes: { a: { kind: "task", task: { prompt: "x", fork: true } } }, output: "a" });
    const alone = await there.run(["run", "--plan", "-"], { input: plan });
    expect(alone).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Task "a" has `fork: true`, but no agent starts the task'),
    });
  });

  test("a long output is printed completely, and the command that prints it again is named", async () => {
    const text = "line\n".repeat(1_000).trimEnd();
    const there = place({ "turns.json": script(text) });
    const { stdout, stderr } = await there.run(asked);
    expect(stdout).toBe(`${text}\n`);
    const again = /full output: subcrew (.*)\n/.exec(stderr)?.[1]?.split(" ") ?? [];
    expect(again[0]).toBe("result");
    expect(await there.run(again)).toMatchObject({ code: 0, stdout: `${text}\n` });
  });

  test("the words of a prompt need no quotes, and a dash stands for standard input", async () => {
    const there = place({ "turns.json": script("ok") });
    const plans = await Promise.all([
      there.run(["plan", "run", "explore", "where", "is", "it"]),
      there.run(["plan", "run", "explore", "-"], { input: "from\nstdin\n" }),
    ]);
    expect(
      plans.map(
        ({ stdout }) =>
          (JSON.parse(stdout) as { nodes: { explore: { task: { prompt: string } } } }).nodes.explore.task.prompt,
      ),
    ).toEqual(["where is it", "from\nstdin"]);
  });

  test("--quiet prints only the result, and still the reason of a failure", async () => {
    const there = place({
      "turns.json": script("ok"),
      "bad.json": script({ error: { code: "MODEL_OVERLOADED", message: "busy", hint: "Wait." } }),
    });
    expect(await there.run([...asked, "--quiet"])).toMatchObject({ code: 0, stdout: "ok\n", stderr: "" });
    const failed = await there.run(["run", "explore", "x", "--model", "scripted:bad.json", "--quiet"]);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain("✗ explore  busy\n");
  });
});

describe("several tasks", () => {
  const turns = {
    "good.json": script("good work"),
    "bad.json": script({ error: { code: "MODEL_OVERLOADED", message: "the model is busy", hint: "Wait a little." } }),
  };
  const both = (mode: object): string => JSON.stringify(mode);
  const items = [
    { name: "a", agent: "explore", task: "x", model: "scripted:good.json" },
    { name: "b", agent: "explore", task: "y", model: "scripted:bad.json" },
    { name: "c", agent: "explore", task: "z", model: "scripted:good.json" },
  ];

  test("each output is printed under its heading", async () => {
    const there = place(turns);
    const { code, stdout } = await there.run([
      "parallel",
      "a@explore=x",
      "b@explore=y",
      "--model",
      "scripted:good.json",
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "## a\n\ngood work\n\n## b\n\ngood work\n" });
  });

  test("a failure prints the results so far, its error and its hint", async () => {
    const there = place({ ...turns, "work.json": both({ tasks: items }) });
    const { code, stdout, stderr } = await there.run(["parallel", "--input", "work.json"]);
    expect(code).toBe(1);
    expect(stdout).toBe("## a\n\ngood work\n\n## b\n\n(failed) the model is busy\n\n## c\n\ngood work\n");
    expect(stderr).toContain("failed  b (explore)  the model is busy\n        Wait a little.\n");
    expect(stderr.match(/the model is busy/g)).toHaveLength(1);
    expect(stderr).toMatch(/^ok {6}c \(explore\)/m);
    expect(stderr).toContain("1 of 3 did not succeed: b");
    expect(stderr).toMatch(/next: subcrew resume run_\w{12} --retry-failed/);
  });

  test("a chain that fails shows the finished steps, and the skipped steps", async () => {
    const there = place({ ...turns, "work.json": both({ chain: items }) });
    const { code, stdout, stderr } = await there.run(["chain", "--input", "work.json"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "## a (explore)\n\ngood work\n" });
    expect(stderr).toContain("skip    c (explore)  b did not succeed");
    expect(stderr.match(/c \(explore\)/g)).toHaveLength(1);
    expect(stderr).not.toContain("(no output");
  });

  test("a race prints the winner and exits with 0", async () => {
    const there = place({ ...turns, "slow.json": script({ delayMs: 600_000, text: "late" }) });
    const { code, stdout, ms } = await there.run([
      "race",
      "--agents",
      "explore",
      "--models",
      "scripted:slow.json,scripted:bad.json,scripted:good.json",
      "x",
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "good work\n" });
    expect(ms).toBeLessThan(200_000); // the command does not wait for the slow loser
  });

  test("with more than thirty tasks the summary counts them and lists the failed ones", async () => {
    const many = Array.from({ length: 40 }, (_, n) => ({
      name: `t${n}`,
      task: "x",
      model: `scripted:${n === 7 ? "bad" : "good"}.json`,
    }));
    const there = place({ ...turns, "work.json": both({ tasks: many }) });
    const { code, stderr } = await there.run(["parallel", "--input", "work.json", "--quiet"]);
    expect(code).toBe(1);
    expect(stderr).toContain("✗ t7  the model is busy");
    expect(stderr).toContain("✓ 39 tasks\n");
    expect(stderr).not.toContain("✓ t8");
  });
});

test.each([
  [
    "a context file",
    ["run", "scout", "When do the birds sing?", "--context-file", "notes.md"],
    /> Birds sing at dawn\./,
  ],
  ["git context", ["run", "scout", "Which notes are new?", "--git-context"], /> \?\? notes\.md/],
  [
    "the output of the step before, in a chain of two agents of pi",
    ["chain", "scout=Where are the birds?", "planner=What does this say? {previous}", "--json"],
    /"type":"node\.started"[^\n]*"prompt":"What does this say\? The agent has no search tool/,
  ],
])("smoke run: %s reaches the model", async (_, args, answer) => {
  const there = place({
    "notes.md": "Birds sing at dawn.\n",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n\trepositoryformatversion = 0\n",
    ".git/objects/info/packs": "",
    ".git/refs/heads/.keep": "",
  });
  for (const name of ["scout", "planner"]) {
    const file = join(there.home, `.pi/agent/agents/${name}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `---\nname: ${name}\ndescription: d\ntools: []\n---\nWork.\n`);
  }
  const { code, stdout } = await there.run(args);
  expect(code).toBe(0);
  expect(stdout).toMatch(answer);
});

describe("the output that goes to a log", () => {
  test("has one line per start, retry, denied tool and end, and no control character", async () => {
    const there = place({
      "turns.json": JSON.stringify({
        shared: true,
        turns: [
          { error: { code: "MODEL_OVERLOADED", message: "busy" } },
          { calls: [{ name: "bash", input: { command: "ls" } }] },
          "done",
        ],
      }),
    });
    const { code, stderr } = await there.run([...asked, "--retry", "2x10ms"]);
    expect(code).toBe(0);
    expect(stderr).not.toContain(ESC);
    expect(stderr.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "run",
      "start",
      "limit",
      "retry",
      "start",
      "denied",
      "ok",
      "done",
      "",
    ]);
    expect(stderr).toMatch(/retry {3}explore {2}in \d+ms: busy\nstart {3}explore {2}try 2\n/);
  });

  test("has colours only on request", async () => {
    const there = place({ "turns.json": script("ok") });
    const colored = async (env: Record<string, string>, more: readonly string[] = []): Promise<boolean> =>
      (await there.run([...asked, ...more], { env })).stderr.includes(ESC);
    expect(await colored({})).toBe(false);
    expect(await colored({ FORCE_COLOR: "1" })).toBe(true);
    expect(await colored({ FORCE_COLOR: "0" })).toBe(false);
    expect(await colored({ FORCE_COLOR: "1", NO_COLOR: "1" })).toBe(false);
    expect(await colored({ FORCE_COLOR: "1", NO_COLOR: "" })).toBe(true);
    expect(await colored({ FORCE_COLOR: "1" }, ["--no-color"])).toBe(false);
  });

  test("uses characters that a locale without Unicode has", async () => {
    const there = place({
      "a.json": script("ok"),
      "work.json": JSON.stringify({ tasks: [{ task: "x" }, { task: "y" }] }),
    });
    const { stderr } = await there.run(["run", "--input", "work.json", "--model", "scripted:a.json"], {
      env: { LANG: "C" },
    });
    expect(stderr).toMatch(/^[\x20-\x7e\n]*$/);
    expect(stderr).toMatch(/^ok {6}task_0 {2}\S+, 1 turn/m);
  });

  test("text of a model cannot control the terminal", async () => {
    const hostile = `a${ESC}]0;title\u0007b${ESC}[2Jc\u009b31md\rE\u202ef`;
    const there = place({ "turns.json": script({ calls: [{ name: `x${ESC}[31m\nok  forged`, input: {} }] }, hostile) });
    const { stdout, stderr } = await there.run(asked);
    expect(stdout).toBe("abcdEf\n");
    expect(stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    expect(stderr.split("\n").filter((line) => line.startsWith("ok"))).toHaveLength(1);
  });
});

test("the run is stored in SUBCREW_HOME and nothing is written into the workspace", async () => {
  const there = place({ "turns.json": script("ok") });
  const { stderr } = await there.run(asked);
  const id = /run_\w{12}/.exec(stderr)?.[0] ?? "";
  expect(existsSync(`${there.home}/state/runs/${id}/journal.jsonl`)).toBe(true);
  expect(existsSync(`${there.workspace}/.subcrew`)).toBe(false);
});

describe.runIf(process.platform === "linux")("output that cannot be written", () => {
  const full = ["sh", "-c", 'exec "$@" > /dev/full', "sh"];
  const told =
    "subcrew: The output cannot be written: the disk is full.\n  Write to another place. The result of a run is kept: `subcrew result` prints it again.\n";

  test("fails the command, and the result of the run is kept", async () => {
    const there = place({ "turns.json": script("It is in a.ts:1.") });
    const { code, stderr } = await there.run(asked, { through: full });
    expect([code, stderr.slice(-told.length)]).toEqual([1, told]);
    const id = /run_\w{12}/.exec(stderr)?.[0] ?? "";
    expect((await there.run(["result", id])).stdout).toBe("It is in a.ts:1.\n");
  });

  test("pauses a run whose events cannot be written, with the reason", async () => {
    const there = place({ "turns.json": script({ delayMs: 600_000, text: "never" }) });
    const { code, stderr } = await there.run([...asked, "--json"], { through: full });
    expect([code, JSON.parse(stderr)]).toEqual([130, expect.objectContaining({ code: "OUTPUT_UNWRITABLE" })]);
    const runs = join(there.home, "state", "runs");
    const journal = readFileSync(join(runs, readdirSync(runs)[0]!, "journal.jsonl"), "utf8");
    expect(journal).toContain('"reason":"the output cannot be written: the disk is full"');
  });

  test("is no failure if its reader has ended", async () => {
    const there = place({ "turns.json": script("one\ntwo") });
    const head = ["sh", "-c", '{ "$@"; echo $? >&2; } | head -c 0', "sh"];
    expect((await there.run(["agents"], { through: head })).stderr).toMatch(/^0\n/m);
  });
});

test("in GitHub Actions, a text result with a line that the runner would obey stands between stop marks", async () => {
  const env = { GITHUB_ACTIONS: "true" };
  const of = async (text: string, ...flags: string[]): Promise<string> =>
    (await place({ "turns.json": script(text) }).run([...actions, ...flags], { env })).stdout;
  const evil = "Found:\n::add-mask::a\n  ##[group]x";
  for (const [text, ...flags] of [
    [evil],
    [" ::debug::x"],
    ["a\n##[error]b"],
    [evil, "--quiet"],
    [evil, "-o", "markdown"],
  ] as const) {
    const [, token, inner] = /^::stop-commands::(\w{16,})\n([^]*)::\1::\n$/.exec(await of(text, ...flags)) ?? [];
    expect([token === undefined, inner?.includes(text)]).toEqual([false, true]);
  }
  expect(await of("a :: b ##[x]")).toBe("a :: b ##[x]\n");
  expect(JSON.parse(await of(evil, "-o", "json"))).toMatchObject({ output: evil });
  for (const line of (await of(evil, "-o", "stream-json")).trim().split("\n")) JSON.parse(line);
  const there = place({ "turns.json": script(evil) });
  await there.run([...actions, "--output-file", "out.md"], { env });
  expect(readFileSync(join(there.workspace, "out.md"), "utf8")).toBe(`${evil}\n`);
  expect((await there.run(["result", "last"], { env })).stdout).toMatch(/^::stop-commands::/);
  expect((await there.run(["result", "last", "--json"], { env })).stdout).not.toContain("stop-commands");
  expect((await there.run(["result", "last"])).stdout).toBe(`${evil}\n`);
});

const actions = ["run", "explore", "x", "--model", "scripted:turns.json"];

test("logs -v prints the name of a tool without terminal sequences", async () => {
  const turns = script({ text: "Looking.", calls: [{ name: "x\u001b]52;c;aGk=\u0007y", input: {} }] }, "done");
  const there = place({ "turns.json": turns });
  await there.run(actions);
  const { stdout } = await there.run(["logs", "last", "-v"]);
  expect(stdout).toContain("call of xy");
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
});
