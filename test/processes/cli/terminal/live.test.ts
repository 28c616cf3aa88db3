import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
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

const slow = script(
  { delayMs: 300, text: "Looking around.", calls: [{ name: "list_files", input: {} }] },
  { delayMs: 900, text: "Found it." },
);
const many = (count: number): string =>
  JSON.stringify({
    tasks: Array.from({ length: count }, (_, n) => ({
      name: `agent-${n + 1}-with-a-rather-long-name`,
      agent: "explore",
      task: "x",
      model: "scripted:turns.json",
    })),
  });

describe("in a terminal", () => {
  test("fifty agents fit into 80 columns and 24 rows, with the running ones and the number of the others", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    open = terminal(tmux.path, place({ "turns.json": slow, "work.json": many(50) }), [
      "parallel",
      "--input",
      "work.json",
      "--concurrency",
      "10",
    ]);
    const lines = await open.until(/(?:^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] agent-[^]*?){4}/m);
    expect(lines.filter((line) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /.test(line)).length).toBeLessThanOrEqual(11);
    expect(lines.findLast((line) => line.includes(" of 50 done"))).toMatch(
      /^\d+ of 50 done · \d+ running · \d+ waiting · [\d.]+m?s · /,
    );
    await open.until("[exit 0]");
    const all = open.history();
    expect(all.match(/^✓ agent-\d+-with-a-rather-long-name/gm)).toHaveLength(50);
    expect(all).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] agent/); // the live lines are gone, also from the scrollback
  });

  test("a terminal of ten columns and four rows is enough, and can be resized", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    open = terminal(
      tmux.path,
      place({ "turns.json": slow, "work.json": many(12) }),
      ["parallel", "--input", "work.json", "--concurrency", "3"],
      { columns: 10, rows: 4 },
    );
    await open.until(/agent/);
    for (const [columns, rows] of [
      [60, 10],
      [20, 5],
      [80, 24],
      [30, 8],
    ] as const)
      open.resize(columns, rows);
    open.resize(80, 24);
    await open.until("[exit 0]");
  });

  test("Ctrl-C cancels, shows the results so far, and restores the terminal", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const work = JSON.stringify({
      tasks: [
        { name: "quick", task: "x", model: "scripted:quick.json" },
        { name: "stuck", task: "y", model: "scripted:stuck.json" },
      ],
    });
    open = terminal(
      tmux.path,
      place({ "work.json": work, "quick.json": script("done already"), "stuck.json": script({ delayMs: 600_000 }) }),
      ["parallel", "--input", "work.json"],
    );
    await open.until(/✓ quick/);
    open.keys("C-c");
    const lines = await open.until("[exit 130]");
    expect(lines).toContain("done already");
    expect(lines.join("\n")).toMatch(/next: subcrew resume run_\w{12}/);
    expect(lines.join("\n")).not.toContain("^C");
  });

  test("an approval is requested, and earlier keystrokes do not answer it", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const team = JSON.stringify({
      team: { tasks: [{ id: "page", task: "Write it.", requiresApproval: true, tools: ["read_file"] }] },
    });
    open = terminal(
      tmux.path,
      place({ "team.json": team, "turns.json": script({ delayMs: 5_000, text: "the whole page" }) }),
      ["team", "--input", "team.json", "--model", "scripted:turns.json"],
    );
    await open.until("thinking");
    open.keys("y", "Enter");
    const asked = await open.until(/^>$/m);
    expect(asked).toContain("  the whole page");
    open.keys("perhaps", "Enter");
    await open.until("This question does not accept that answer.");
    open.keys("n shorter please", "Enter");
    await open.until(/page\.1\/approval +rejected by a person: shorter please/);
    await open.until(/shorter please[^]*the whole page[^]*\n>\n/);
    open.keys("y", "Enter");
    const lines = await open.until("[exit 0]");
    expect(lines.join("\n")).toContain("page.2/approval");
  });

  test("Ctrl-C at a question cancels the run", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const team = JSON.stringify({
      team: { tasks: [{ id: "page", task: "Write it.", requiresApproval: true, tools: ["read_file"] }] },
    });
    open = terminal(tmux.path, place({ "team.json": team, "turns.json": script("the whole page") }), [
      "team",
      "--input",
      "team.json",
      "--model",
      "scripted:turns.json",
    ]);
    await open.until(/^>$/m);
    open.keys("C-c");
    await open.until("[exit 130]");
  });

  test("NO_COLOR removes the colours and keeps the live rows; TERM=dumb removes both", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const there = place({ "turns.json": slow, "long.json": script({ delayMs: 5_000, text: "Found it." }) });
    const args = ["run", "explore", "x", "--model", "scripted:turns.json"];
    const colored = (): boolean => open?.colors().includes("\u001b[3") ?? false;
    open = terminal(tmux.path, there, args);
    await open.until("[exit 0]");
    expect(colored()).toBe(true);
    open.close();
    open = terminal(tmux.path, there, [...args, "--model", "scripted:long.json"], { env: { NO_COLOR: "1" } });
    await open.until(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] thinking\nexplore/m);
    await open.until("[exit 0]");
    expect(colored()).toBe(false);
    open.close();
    open = terminal(tmux.path, there, args, { env: { TERM: "dumb" } });
    await open.until("[exit 0]");
    expect(open.history()).toMatch(/^start +explore$/m);
    expect(colored()).toBe(false);
  });

  test("an answer is drawn as Markdown, once; in a pipe only the result is printed, unchanged", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const there = place({ "turns.json": script("# Title\n\nSome **bold** words.") });
    const args = ["run", "explore", "x", "--model", "scripted:turns.json"];
    open = terminal(tmux.path, there, args);
    await open.until("[exit 0]");
    expect(open.history().match(/Some bold words\./g)).toHaveLength(1);
    expect(open.history()).not.toContain("**");
    open.close();
    open = terminal(tmux.path, there, args, { script: (line) => `${line} > out.md\necho "[exit $?]"` });
    await open.until("[exit 0]");
    expect(open.history()).not.toContain("bold");
    expect(readFileSync(join(there.workspace, "out.md"), "utf8")).toBe("# Title\n\nSome **bold** words.\n");
  });

  test("the key w opens the screen of watch, and events meanwhile are printed afterwards", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const turns = script(
      { delayMs: 3_000, text: "Looked.", calls: [{ name: "list_files", input: {} }] },
      { delayMs: 4_000, text: "Found it." },
    );
    open = terminal(tmux.path, place({ "turns.json": turns }), [
      "run",
      "explore",
      "x",
      "--model",
      "scripted:turns.json",
    ]);
    await open.until("w screen");
    open.keys("w");
    await open.until(/subcrew watch run_\w{12} +1 working/);
    await open.until(/list_files|1\/100/);
    open.keys("q");
    await open.until(/Looked\.[^]*✓ list_files[^]*w screen/);
    await open.until("[exit 0]");
    expect(open.history().match(/Found it\./g)).toHaveLength(1);
  });

  test("a run that ends while its transcript is open prints its result when the person returns", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const there = place({ "turns.json": script({ delayMs: 2_000, text: "Found it." }) });
    open = terminal(tmux.path, there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    await open.until("o transcript");
    open.keys("o");
    await open.until(/Found it\.[^]*q or Esc returns/);
    open.keys("q");
    await open.until("[exit 0]");
    expect(open.history()).toMatch(/Found it\.\n\ndone in/);
  });

  test("b and then y send the run to the background, where it ends", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const there = place({ "turns.json": script({ delayMs: 3_000, text: "Found it." }) });
    open = terminal(tmux.path, there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    await open.until("b background");
    open.keys("b");
    await open.until("Continue in the background? y: yes");
    open.keys("y");
    await open.until("[exit 0]");
    const [, id = ""] = /Task running in background: (run_\w{12})/.exec(open.history()) ?? [];
    expect((await there.run(["wait", id])).code).toBe(0);
    expect((await there.run(["result", id])).stdout).toBe("Found it.\n");
  });

  test.each([
    ["typed ahead in one go", ["by"]],
    ["with another key than y", ["b", "n"]],
  ])("the key b %s leaves the run in the foreground", async (_, keys) => {
    if (tmux.missing !== undefined) return;
    const there = place({ "turns.json": script({ delayMs: 2_000, text: "Found it." }) });
    open = terminal(tmux.path, there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    for (const key of keys) {
      await open.until(/b background|in the background\?/);
      open.keys(key);
    }
    await open.until("[exit 0]");
    expect(open.history()).toContain("Found it.");
    expect(open.history()).not.toContain("Task running");
  });

  test("keys have no effect while the result goes to a file", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const there = place({ "turns.json": script({ delayMs: 2_000, text: "Found it." }) });
    open = terminal(tmux.path, there, ["run", "explore", "x", "--model", "scripted:turns.json", "-o", "json"], {
      script: (line) => `${line} > result.json\necho "[exit $?]"`,
    });
    await open.until("Ctrl-C pauses");
    open.keys("b", "y", "o", "w");
    await open.until("[exit 0]");
    expect(open.history()).not.toMatch(/Task running|w screen/);
    const result = JSON.parse(readFileSync(join(there.workspace, "result.json"), "utf8")) as unknown;
    expect(result).toMatchObject({ status: "ok", output: "Found it." });
  });

  test("the inbox lists one line per question, then asks them one by one and checks the answers", async (ctx) => {
    if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
    const team = JSON.stringify({
      team: { tasks: [{ id: "page", task: "Write it.", requiresApproval: true, tools: ["read_file"] }] },
    });
    const there = place({ "team.json": team, "turns.json": script("the whole page", "written") });
    const args = ["team", "--input", "team.json", "--model", "scripted:turns.json", "--bg", "--quiet"];
    const id = (await there.run(args)).stdout.trim();
    await there.run(["wait", id, "--until", "question"]);
    const wrong = await there.run(["inbox", "allow", id, "--always"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("An approval is valid once")]);
    open = terminal(tmux.path, there, ["inbox"]);
    await open.until(/approval, .* ago\) {2}Approve this plan\?[^]*1 of 1: [^]*the whole page[^]*\n>$/);
    open.keys("perhaps", "Enter");
    await open.until(/> perhaps\n\[y\] approve/);
    open.keys("y", "Enter");
    await open.until("The answer was accepted.");
    await open.until("[exit 0]");
    expect((await there.run(["wait", id])).code).toBe(0);
  });
});
