import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { type Place, place } from "../../command.ts";
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

const files = {
  "src/login.ts": "/** Checks the password. */\nexport function login(): void {}\n",
  "src/invoice.ts": "export function invoice(): void {}\n",
};

/** An agent of the user that plays one turn, after a delay. */
function waiter(at: Place, turn: Readonly<{ text: string; delayMs: number }>): void {
  writeFileSync(join(at.home, "child.json"), JSON.stringify([turn]));
  mkdirSync(join(at.home, ".subcrew/agents"), { recursive: true });
  writeFileSync(
    join(at.home, ".subcrew/agents/waiter.md"),
    `---\nname: waiter\ndescription: waits\ntools: [read_file]\nmodel: scripted:${join(at.home, "child.json")}\n---\nWait.\n`,
  );
}
const waiting = (more: object = {}) => ({
  calls: [{ name: "Task", input: { subagent_type: "waiter", description: "Wait for it", prompt: "Wait.", ...more } }],
});

/** A script for the main agent. */
function scripts(at: Place, lead: readonly unknown[]): readonly string[] {
  writeFileSync(join(at.home, "lead.json"), JSON.stringify(lead));
  return ["--model", `scripted:${join(at.home, "lead.json")}`];
}

describe("a signal from outside pauses the answer and ends the chat", () => {
  const slow = [{ text: "late", delayMs: 600_000 }];
  const states = async (at: Place): Promise<unknown> =>
    (JSON.parse((await at.run(["runs", "--json"])).stdout) as { status: string }[]).map(({ status }) => status);

  test("without a terminal", async () => {
    const at = place(files);
    const { child, ended, until } = at.start(["chat", ...scripts(at, slow)], { input: "first\nsecond\n" });
    await until(/start +lead|limit/);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(143);
    expect(await states(at)).toEqual(["paused"]);
  });

  test("in a terminal", async ({ skip }) => {
    if (tmux.missing !== undefined || process.platform !== "linux") return skip(tmux.missing ?? "reads /proc");
    const at = place(files);
    open = terminal(tmux.path, at, ["chat", "first", ...scripts(at, slow)]);
    const shell = open.about("#{pane_pid}");
    await open.until("thinking");
    process.kill(Number(readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8")), "SIGINT");
    await open.until("[exit 130]");
    expect(await states(at)).toEqual(["paused"]);
  });
});

describe("without a terminal", () => {
  test("each line is a message, and the main agent starts explorers in parallel", async () => {
    const at = place(files);
    const { code, stdout, stderr } = await at.run(["chat", "--commands"], {
      input: "Where is the login function? Where is the invoice function?\n/cost\n",
    });
    expect(code).toBe(0);
    expect(stderr).toContain("Starting 2 agents in parallel");
    expect(stderr.match(/┌─ ✓ explore/gi)).toHaveLength(2);
    expect(stderr).toMatch(/Found +/);
    expect(stdout).toContain("src/login.ts:2");
    expect(stdout).toContain("src/invoice.ts:1");
    expect(stderr).toMatch(/^1 message, \d+ turns, .* tokens, /m);
  });

  test("text from a pipe runs no command and attaches no image", async () => {
    const at = place(files);
    writeFileSync(join(at.home, "shot.png"), Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"));
    const input = `/export made.md\n/usr/bin/x: not found\n/exit\n!touch ran\nLook at @${join(at.home, "shot.png")} and @~/shot.png\n`;
    const { stdout, stderr } = await at.run(
      ["chat", ...scripts(at, ["One.", "Two.", "Three.", "Four.", "Five.", "Six."]), "/clear"],
      { input },
    );
    expect(stdout).toBe("One.\nTwo.\nThree.\nFour.\nFive.\nSix.\n");
    expect(stderr).not.toContain("shot.png (png)");
    expect(stderr).not.toContain("no command");
    expect(readdirSync(at.workspace)).toEqual(["src"]);
  });

  test("an agent that the main agent starts is shown with its type, task and model, and then with its findings", async () => {
    const at = place(files);
    waiter(at, { text: "Two places:\n\n- src/login.ts:2\n- src/invoice.ts:1", delayMs: 0 });
    const { code, stderr } = await at.run(["chat", ...scripts(at, [waiting(), "Done."]), "Look."]);
    expect(code).toBe(0);
    const boxes = stderr.split("\n").flatMap((line) => /^│ (.*?) *│$/.exec(line)?.[1] ?? []);
    expect(stderr).toMatch(/┌─ Starting an agent ─/);
    expect(boxes.slice(0, 3)).toEqual([
      "Agent  waiter",
      "Task   Wait for it",
      expect.stringMatching(/^Model  scripted:.*/),
    ]);
    expect(stderr).toMatch(/┌─ ✓ waiter: Wait for it ─/);
    expect(boxes.slice(3, 6)).toEqual(["Status  done", "Found   src/login.ts:2", "        src/invoice.ts:1"]);
  });

  test("a later message continues the conversation in a new run that records this", async () => {
    const at = place(files);
    const model = scripts(at, ["First answer.", "Second answer."]);
    const { stdout, stderr } = await at.run(["chat", ...model], { input: "One?\nTwo?\n" });
    expect(stdout).toBe("First answer.\nSecond answer.\n");
    const ids = [...stderr.matchAll(/run_[a-z0-9]{12}/g)].map(([id]) => id);
    expect(new Set(ids).size).toBe(2);
    const second = JSON.parse((await at.run(["status", ids[1]!, "--json"])).stdout) as { continues: string };
    expect(second.continues).toBe(`${ids[0]}/lead`);
    const again = await at.run(["chat", "--resume", ids[1]!, ...model], { input: "Three?\n" });
    expect(again.stderr).not.toContain("subcrew:");
  });

  test("conversations are listed, found by words, and continued", async () => {
    const at = place(files);
    const model = scripts(at, ["The login is in src/login.ts.", "No tests."]);
    await at.run(["chat", "--commands", ...model], { input: "Where is it?\nTests?\n/clear\nWrite a poem.\n" });
    const listed = await at.run(["chat", "--resume", ...model], { input: "" });
    const lines = listed.stderr.split("\n").filter((line) => line.startsWith("run_"));
    expect(lines).toEqual([
      expect.stringMatching(/1 message {2}Write a poem\.$/),
      expect.stringMatching(/2 messages {2}Where is it\?$/),
    ]);
    const more = scripts(at, ["Yes.", "Yes.", "Yes."]);
    const found = await at.run(["chat", "--commands", ...more], {
      input: "/resume login tests\nAgain?\n/resume nothing like this\n",
    });
    const [id] = lines[1]!.split(" ");
    expect(found.stderr).toContain(`The next message continues ${id}.`);
    expect(found.stderr).toContain("matches no run and no conversation of this project");
    const shown = await at.run(["chat", ...scripts(at, ["Yes."]), "--resume", "a poem"], { input: "More?\n" });
    const [run = ""] = [...shown.stderr.matchAll(/run_[a-z0-9]{12}/g)].map(([id]) => id).slice(-1);
    const journal = readFileSync(join(at.home, "state/runs", run, "journal.jsonl"), "utf8");
    expect(journal).toContain(`"continues":"${lines[0]!.split(" ")[0]}/lead"`);
  });

  test("an approved rule is listed with its number and removed by it", async () => {
    const at = place(files);
    const rules = { version: 1, user: [], projects: { [at.workspace]: ["bash(npm test *)", "bash(ls *)"] } };
    mkdirSync(join(at.home, "state"), { recursive: true });
    writeFileSync(join(at.home, "state/rules.json"), JSON.stringify(rules));
    expect((await at.run(["permissions"])).stdout).toBe("1  allow  bash(npm test *)\n2  allow  bash(ls *)\n");
    const { stderr } = await at.run(["chat", "--commands"], { input: "/permissions remove 1\n/permissions\n" });
    expect(stderr).toContain("Removed: allow bash(npm test *)");
    expect((await at.run(["permissions"])).stdout).toBe("1  allow  bash(ls *)\n");
    const missing = await at.run(["permissions", "remove", "7"]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('No approved rule matches "7".')]);
  });

  test("the setting resume.maxContinuations does not limit how often a user can reply in a chat", async () => {
    const at = place(files);
    const answers = Array.from({ length: 8 }, (_, n) => `Answer ${n + 1}.`);
    const { code, stdout } = await at.run(["chat", ...scripts(at, answers)], {
      input: "And?\n".repeat(answers.length),
    });
    expect([code, stdout]).toEqual([0, `${answers.join("\n")}\n`]);
  });

  test("only the answer of an agent comes back to the main conversation", async () => {
    const at = place({ "src/login.ts": `export function login(): void {} // ${"long ".repeat(2_000)}\n` });
    await at.run(["ask", "Where is the login function?"]);
    const [run] = readdirSync(join(at.home, "state/runs"));
    const events = readFileSync(join(at.home, "state/runs", run!, "journal.jsonl"), "utf8").split("\n");
    const back = events.find((line) => line.includes('"tool.ended"') && line.includes('"path":"lead"'))!;
    expect(back).toContain("src/login.ts:1");
    expect(back.length).toBeLessThan(4_000);
    expect(events.some((line) => line.includes('"path":"lead/') && line.includes('"tool":"read_file"'))).toBe(true);
  });

  test("a background task is shown with its id, continues after the answer, and the command waits for its end", async () => {
    const at = place(files);
    waiter(at, { text: "Waited.", delayMs: 1_500 });
    const model = scripts(at, [waiting({ run_in_background: true }), "It is on its way."]);
    const { code, stdout, stderr } = await at.run(["chat", ...model, "Start it."]);
    expect([code, stdout]).toEqual([0, "It is on its way.\n"]);
    const [, id] = /Task running in background: (run_\w+)/.exec(stderr) ?? [];
    expect(stderr).toContain(`Task ${id} has ended: ok.`);
    expect((await at.run(["result", id!])).stdout).toBe("Waited.\n");
    const asked = await at.run(["chat", "--commands", ...scripts(at, ["Hello."])], {
      input: `/task-status ${id}\nHello?\n`,
    });
    const status = await at.run(["status", id!]);
    expect(status.stdout).toContain(id);
    expect(asked.stdout).toContain(status.stdout);
  });

  test.each([
    ["/costs", 'Unknown command "/costs".', "Did you mean /cost?"],
    ["/inbox perhaps", '"/inbox" has no subcommand "perhaps".', "answer, allow, deny, export"],
    ["/resume nothing", '"nothing" matches no run and no conversation', ""],
  ])("%s is reported, and no message is lost", async (line, what, hint) => {
    const at = place(files);
    const { stdout, stderr } = await at.run(["chat", "--commands", ...scripts(at, ["Still here."])], {
      input: `${line}\nHello?\n`,
    });
    expect(stderr).toContain(what);
    expect(stderr).toContain(hint);
    expect(stdout).toBe("Still here.\n");
  });

  test("a failed message is reported, also by the exit code", async () => {
    const at = place(files);
    const { code, stderr } = await at.run(["chat", "--model", "anthropic/none", "Hello?"]);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/ANTHROPIC_API_KEY/);
  });
});

describe("in a terminal", () => {
  test("Ctrl-C stops the answer and its helpers; /resume continues them, and another message replaces them", async ({
    skip,
  }) => {
    if (tmux.missing !== undefined) return skip(tmux.missing);
    const at = place(files);
    waiter(at, { text: "Waited.", delayMs: 3_000 });
    open = terminal(tmux.path, at, ["chat", ...scripts(at, [waiting(), "All done.", "Again."]), "Go on."]);
    await open.until("Starting an agent");
    await open.until(/waiter.*thinking/);
    open.keys("C-c");
    await open.until("The answer and 1 agent are stopped. /resume continues");
    open.keys("/resume", "Enter");
    await open.until(/All done\.[^>]*run_\w{12}\s+>/);
    expect(open.history()).toContain("✓ waiter");
    open.keys("And now?", "Enter");
    await open.until(/Again\.[^>]*run_\w{12}\s+>/);
    open.keys("C-d");
    await open.until("[exit 0]");
    expect(open.history()).toContain("continue later: subcrew chat --resume run_");
  });

  test("a letter of a message answers no question, and an approved pattern covers the next call", async ({ skip }) => {
    if (tmux.missing !== undefined) return skip(tmux.missing);
    const at = place({ ...files, "one.txt": "1\n" });
    const touch = (name: string): object => ({ calls: [{ name: "bash", input: { command: `touch -c ${name}` } }] });
    open = terminal(tmux.path, at, [
      "chat",
      ...scripts(at, [touch("one.txt"), touch("two.txt"), "Touched."]),
      "Touch them.",
    ]);
    await open.until("Allow this call?");
    open.keys("yet another message", "Enter");
    await open.until("queued: yet another message");
    expect(open.screen().join("\n")).toContain("Allow this call?");
    open.keys("c", "Enter");
    await open.until("> bash(touch -c *)");
    open.keys("Enter");
    await open.until("Touched.");
    expect(open.history().match(/lead asks:/g)).toHaveLength(1);
  });

  test("the conversation continues while a background task runs, and its end is reported", async ({ skip }) => {
    if (tmux.missing !== undefined) return skip(tmux.missing);
    const at = place(files);
    waiter(at, { text: "Waited.", delayMs: 12_000 });
    open = terminal(tmux.path, at, [
      "chat",
      ...scripts(at, [waiting({ run_in_background: true }), "On its way.", "Still here."]),
      "Start it.",
    ]);
    await open.until(/On its way\.[^>]*run_\w{12}\s+>/);
    open.keys("Are you there?", "Enter");
    await open.until("Still here.");
    open.keys("half a li");
    await open.until(/has ended: ok\.[^>]*> half a li/);
    open.keys("C-c", "C-d");
    await open.until("[exit 0]");
  });

  test("Tab completes, and the arrow key brings back an earlier message", async ({ skip }) => {
    if (tmux.missing !== undefined) return skip(tmux.missing);
    const at = place(files);
    open = terminal(tmux.path, at, ["chat", ...scripts(at, ["Yes.", "Yes again."])]);
    await open.until(/exits\.\n>/);
    open.keys("/cos", "Tab");
    await open.until("> /cost");
    open.keys("Enter");
    await open.until("0 messages, 0 turns");
    open.keys("Is this kept?", "Enter");
    await open.until(/Yes\.\s+[^>]*run_\w{12}\s+>/);
    open.keys("Up");
    await open.until(/> Is this kept\?\n/);
    open.keys("C-c");
    open.keys("/exit", "Enter");
    await open.until("[exit 0]");
    expect(readFileSync(join(at.home, "state/chat-history.json"), "utf8")).toContain("Is this kept?");
  });
});

test("on a terminal that cannot redraw, the chat takes a message after an answer", async ({ skip }) => {
  if (tmux.missing !== undefined) return skip(tmux.missing);
  const at = place(files);
  open = terminal(tmux.path, at, ["chat", ...scripts(at, ["one", "two"])], { env: { TERM: "dumb" } });
  for (const answer of ["one", "two"]) {
    await open.until(/^> $|^>$/m);
    open.keys("go on", "Enter");
    await open.until(new RegExp(`^${answer}$`, "m"));
  }
  open.keys("C-d");
  await open.until("[exit 0]");
});

test("a chat whose key is refused shows what it waits for, not that the model thinks", async ({ skip }) => {
  if (tmux.missing !== undefined) return skip(tmux.missing);
  const at = place(files);
  const refused = { error: { code: "MODEL_AUTH", message: "The key was refused.", retryable: false } };
  open = terminal(tmux.path, at, ["chat", "hello", ...scripts(at, [refused])]);
  const rows = await open.until(/waiting: The key was refused/);
  expect(rows.join("\n")).not.toMatch(/ thinking$/m);
  open.keys("C-c", "C-c");
  await open.until(/\[exit \d+\]/);
});
