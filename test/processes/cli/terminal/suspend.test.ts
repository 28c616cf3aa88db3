import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { anyCommand, place, script } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

let tmux: Need;
beforeAll(async () => {
  tmux = await needs("tmux");
}, needsTimeout);
beforeEach((context) => {
  if (tmux.missing !== undefined) context.skip(tmux.missing);
});

let open: Terminal | undefined;
afterEach(() => {
  open?.close();
  open = undefined;
});

const inSandbox = anyCommand.filter((word) => word !== "--sandbox" && word !== "off");
/** The command, also when a wrapper such as npx is between it and the shell. */
const wrapped = (line: string): string => `sh -c ${JSON.stringify(`${line.replaceAll("$", "\\$")}; exit $?`)}`;
const path = (): string => (tmux.missing === undefined ? tmux.path : "");
const slow = script({ delayMs: 4_000, text: "There it is." });
const asked = ["run", "explore", "x", "--model", "scripted:turns.json"];

describe("Ctrl-Z", () => {
  test.each([
    ["the command", (line: string) => line],
    ["a wrapper around the command", wrapped],
  ])("suspends %s, and it continues where it was", async (_, how) => {
    open = terminal(path(), place({ "turns.json": slow }), asked, {
      script: (line) => `set -m\n${how(line)}\necho "[suspended $?]"\nread go\nfg\necho "[exit $?]"`,
    });
    await open.until(/explore/);
    open.keys("C-z");
    await open.until("[suspended 148]");
    open.keys("Enter");
    await open.until("[exit 0]");
    expect(open.history()).toContain("There it is.");
  });

  test("where no shell could continue the command, Ctrl-Z has no effect", async () => {
    open = terminal(path(), place({ "turns.json": slow }), asked);
    await open.until(/explore/);
    open.keys("C-z");
    await open.until("[exit 0]");
    expect(open.history()).toContain("There it is.");
  });
});

test("an idle chat can be suspended by Ctrl-Z and by a signal, stays alive in the background, and SIGQUIT ends it", async () => {
  const keyboard = "$(stty -a | grep -o ' -\\?icanon')";
  open = terminal(path(), place({ "turns.json": script("hi") }), ["chat", "--model", "scripted:turns.json"], {
    script: (line) =>
      [
        "trap : QUIT",
        "set -m",
        `${line}\necho "[key $?]${keyboard}"; read go; clear; fg`,
        `echo "[signal $?]${keyboard}"; read go; bg; read go; clear; fg`,
        `echo "[exit $?]${keyboard}"`,
      ].join("\n"),
  });
  const prompt = /Ctrl-D exits$/m;
  const shell = open.about("#{pane_pid}");
  const chat = (): number => Number(readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8"));
  await open.until(prompt);
  open.keys("C-z");
  await open.until("[key 148] icanon");
  open.keys("Enter");
  await open.until(prompt);
  process.kill(chat(), "SIGTSTP");
  await open.until("[signal 148] icanon");
  open.keys("Enter", "Enter");
  await open.until(prompt);
  process.kill(chat(), "SIGQUIT");
  await open.until("[exit 131] icanon");
});

test("a background job does not draw its screen, and draws it again after `fg`", async () => {
  open = terminal(path(), place(), ["top"], {
    script: (line) =>
      `set -m\n${line}\necho "[suspended $?]"; read go; bg; read go; echo "[background]"; read go; fg\necho "[exit $?]"`,
  });
  await open.until("no runs");
  open.keys("C-z");
  await open.until("[suspended 148]");
  open.keys("Enter", "Enter");
  await open.until("[background]");
  expect(open.about("#{alternate_on}")).toBe("0");
  open.keys("Enter");
  await open.until("no runs");
  open.keys("q");
  await open.until("[exit 0]");
});

test("Ctrl-\\ ends a run like a kill: the terminal is restored, no process is left, and the run can be resumed", async (context) => {
  const bwrap = await needs("bwrap");
  if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
  const marker = `600.${process.pid}7`;
  const running = {
    calls: [{ name: "bash", input: { command: `mkdir -p x/.git; echo begun > begun.txt; sleep ${marker}` } }],
  };
  const there = place({ "turns.json": script(running, "done") });
  open = terminal(path(), there, inSandbox, {
    script: (line) => `trap : QUIT\nset -m\n${line}\necho "[exit $?]"\nstty -a | grep -o ' -\\?icanon'`,
  });
  await expect.poll(() => readdirSync(there.workspace), { timeout: 120_000 }).toContain("begun.txt");
  open.keys("C-\\");
  await open.until("[exit 131]");
  await open.until(/^ icanon/m);
  const left = (): string[] =>
    readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(`sleep\0${marker}`));
  await expect.poll(left, { timeout: 120_000 }).toEqual([]);
  await expect.poll(() => readdirSync(join(there.workspace, "x"))[0], { timeout: 120_000 }).toMatch(/^\.git\.refused-/);
  expect((await there.run(["runs"])).stdout).toMatch(/unfinished|interrupted/);
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // the process has ended meanwhile
  }
}
