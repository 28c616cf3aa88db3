import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { place, script } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

let tmux: Need;
beforeAll(async () => {
  tmux = await needs("tmux");
}, needsTimeout);

let open: Terminal | undefined;
afterEach(() => {
  open?.close();
  open = undefined;
});

test("watch names the task of an approval", async (ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const team = {
    team: { tasks: [{ id: "page", task: "Write it.", requiresApproval: true, tools: ["read_file"] }] },
  };
  const there = place({ "team.json": JSON.stringify(team), "turns.json": script("the page") });
  const started = await there.run(["team", "--input", "team.json", "--model", "scripted:turns.json", "--bg"]);
  const [id = ""] = /run_\w{12}/.exec(started.stdout) ?? [];
  open = terminal(tmux.path, there, ["watch", id]);
  const screen = await open.until(/approval of page/);
  expect(screen.join("\n")).not.toMatch(/^\W*approval\s{2,}/m);
  open.keys("q");
  await open.until("[exit 0]");
  await there.run(["kill", id]);
});

test("top opens the steps of a row with Enter and its changes with d, and q returns to the list", async (ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const write = { name: "write_file", input: { path: "new.txt", content: "one\n" } };
  const there = place({ ".git/HEAD": "", "turns.json": script({ calls: [write] }, "All done.") });
  await there.run(["run", "code", "x", "--model", "scripted:turns.json", "--permission-mode", "bypass"]);
  open = terminal(tmux.path, there, ["top"]);
  await open.until("d diff");
  open.keys("Enter");
  await open.until(/write_file new\.txt[^]*All done\.[^]*q or Esc returns/);
  open.keys("q");
  await open.until("d diff");
  open.keys("d");
  await open.until(/new\.txt \(created, \+1 -0[^]*\+one/);
  open.keys("q");
  await open.until("d diff");
  open.keys("q");
  await open.until("[exit 0]");
});

test("top shows a run whose journal begins with damage, and does not list it under another project", async (ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const there = place();
  const runs = join(there.env["SUBCREW_HOME"]!, "runs");
  mkdirSync(join(runs, "run_damaged00000"), { recursive: true });
  writeFileSync(join(runs, "run_damaged00000", "journal.jsonl"), "not a record\n");
  open = terminal(tmux.path, there, ["top"]);
  const screen = await open.until("run_damaged00000");
  expect(screen.join("\n")).not.toContain("of other projects");
  open.keys("q");
  await open.until("[exit 0]");
});

test.for<[string, string[]]>([
  ["the live screen", []],
  ["questions line by line", ["--quiet"]],
])("a long command cannot imitate another question: %s", async ([, flags], ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  // Rows of 80 columns: each begins with a line of a harmless question.
  const row = (text: string): string => text.padEnd(80, "-");
  const harmless = ["bash wants to use bash (it only reads):", "  command: ls", "sandbox: full", "Allow this call?"];
  for (const shift of [0, 1, 2, 3]) {
    const command = `rm -rf precious; : ${"x".repeat(46 + shift)}${harmless.map(row).join("").repeat(12)}`;
    const there = place({ "turns.json": script({ calls: [{ name: "bash", input: { command } }] }, "end") });
    open = terminal(tmux.path, there, ["run", "bash", "x", "--model", "scripted:turns.json", ...flags]);
    const shown = await open.until(/\ny once, a always|\[a\] always/);
    expect(
      shown.filter((line) =>
        /^ {0,3}(bash wants.*it only reads|command: ls|sandbox: full-|Allow this call\?-)/.test(line),
      ),
    ).toEqual([]);
    expect(shown.slice(-9).join("\n")).toContain("rm -rf precious");
    open.close();
  }
});

/** Invisible characters: zero width, soft hyphen, tag, selector, filler, line separator. */
const HIDDEN = "\u200b\u2060\ufeff\u00ad\u{e0041}\u3164\u2028a\ufe0f";
const RAW = /[\u200b\u2060\ufeff\u00ad\u{e0041}\u3164\u2028]|a\ufe0f/u;

test.for<[string, string[]]>([
  ["the live screen of a run", ["run", "liar", "x", "--model", "scripted:turns.json"]],
  ["a run without a screen", ["run", "liar", "x", "--model", "scripted:turns.json", "--quiet"]],
  ["a result as markdown", ["run", "liar", "x", "--model", "scripted:turns.json", "-o", "markdown"]],
  ["the list of agents", ["agents"]],
  ["one agent", ["agents", "explain", "liar"]],
])("invisible characters do not reach the terminal, and emoji do: %s", async ([, words], ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const { path } = tmux;
  const text = `pay${HIDDEN}load 👩‍💻`;
  const there = place({ "turns.json": script(text) });
  mkdirSync(join(there.home, ".agents/agents"), { recursive: true });
  writeFileSync(
    join(there.home, ".agents/agents/liar.md"),
    `---\nname: liar\ndescription: ${JSON.stringify(text)}\n---\nText.\n`,
  );
  open = terminal(tmux.path, there, words, {
    columns: 200,
    rows: 50,
    script: (line) => `'${path}' pipe-pane 'cat > ${there.workspace}/raw.txt'\n${line}\necho "[exit $?]"`,
  });
  await open.until("[exit 0]");
  const raw = readFileSync(join(there.workspace, "raw.txt"), "utf8");
  expect(raw).toContain("pay");
  expect(raw).toContain("👩‍💻");
  expect(raw).not.toMatch(RAW);
  const piped = await there.run(words);
  expect(piped.stdout).toContain(words.includes("agents") ? "\u200b" : text);
});

test.for<[string, string[]]>([
  ["the live screen", []],
  ["questions line by line", ["--quiet"]],
])("a question about a command writes its invisible characters out: %s", async ([, flags], ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const command = "touch a\u200bb\u{e0041}\u202e";
  const there = place({ "turns.json": script({ calls: [{ name: "bash", input: { command } }] }, "end") });
  open = terminal(tmux.path, there, ["run", "bash", "x", "--model", "scripted:turns.json", ...flags]);
  const shown = await open.until(/\ny once, a always|\[a\] always/);
  expect(shown.join("\n")).toContain("command: touch a\\u{200b}b\\u{e0041}");
  if (flags.length === 0) expect(shown.slice(-9).join("\n")).toContain("bash touch a<U+200B>b<U+E0041>");
});

test("names and settings of a project cannot imitate another line of the question whether to trust it", async (ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const forged = "same      agent forged  forged.md";
  const agent = {
    name: "liar",
    description: "x",
    tools: ["read_file", `x\n  ${forged}`],
    model: `m/${"y".repeat(38)} ${forged}${"z".repeat(60)} ${forged}`,
    remote: { cardUrl: "https://a.example", auth: { type: "bearer", token: "!print-token" } },
  };
  const there = place({
    ".git/HEAD": "",
    [`.claude/skills/a\n  ${forged}/SKILL.md`]: "---\nname: plain\ndescription: x\n---\nText.\n",
    ".subcrew/agents/liar.md": `---\n${JSON.stringify(agent)}\n---\nText.\n`,
  });
  open = terminal(tmux.path, there, ["trust"], { columns: 60, rows: 50 });
  const shown = await open.until("[y] yes");
  const review = shown.slice(
    shown.findIndex((row) => row.startsWith("  new")),
    shown.findIndex((row) => row.startsWith("Trust these files")),
  );
  expect(review.filter((row) => /^ {0,2}\S/.test(row)).map((row) => row.slice(0, 26))).toEqual([
    "  new       agent liar  .s",
    "  new       skill plain  .",
  ]);
  expect(review.join("\n")).toContain("!print-token");
});

test("invisible characters of a finished run do not reach the terminal: chat, top and diff", async (ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const { path } = tmux;
  const text = `pay${HIDDEN}load 👩‍💻`;
  const there = place({
    ".git/HEAD": "",
    "turns.json": script({ calls: [{ name: "write_file", input: { path: "new.txt", content: `${text}\n` } }] }, text),
    "chat.json": script(text),
  });
  await there.run([
    "run",
    "code",
    text,
    "--name",
    "one",
    "--model",
    "scripted:turns.json",
    "--permission-mode",
    "bypass",
  ]);
  for (const [words, shown] of [
    [["chat", "hello", "--model", "scripted:chat.json"], "load"],
    [["top", "--all"], "one"],
    [["diff", "one", "--no-pager"], "pay<U+200B><U+2060><U+FEFF><U+00AD><U+E0041><U+3164><U+2028>a<U+FE0F>load 👩‍💻"],
  ] as const) {
    open = terminal(path, there, words, {
      columns: 200,
      rows: 50,
      script: (line) => `'${path}' pipe-pane 'cat > ${there.workspace}/raw.txt'\n${line}\necho "[exit $?]"`,
    });
    await open.until(shown);
    expect(readFileSync(join(there.workspace, "raw.txt"), "utf8"), words[0]).not.toMatch(RAW);
    open.close();
  }
});
