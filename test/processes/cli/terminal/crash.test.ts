import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { needs } from "../../../needs.ts";
import { command, place } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

/** The processes that run the command in a terminal, and those that guard it. */
function processesIn(tty: string): Readonly<{ commands: number[]; guards: number[] }> {
  const found = { commands: [] as number[], guards: [] as number[] };
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const descriptors = readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`));
      if (!descriptors.includes(tty)) continue;
      if (line.includes("subcrew-terminal-guard")) found.guards.push(Number(pid));
      else if (line.includes(command)) found.commands.push(Number(pid));
    } catch {
      // the process has ended meanwhile
    }
  }
  return found;
}

const MODES = "#{alternate_on} #{cursor_flag} #{wrap_flag}";

async function kill(open: Terminal, tty: string, how: NodeJS.Signals): Promise<void> {
  const counted = (): Readonly<{ commands: number; guards: number }> => {
    const { commands, guards } = processesIn(tty);
    return { commands: commands.length, guards: guards.length };
  };
  await expect.poll(counted, { message: how }).toEqual({ commands: 1, guards: 1 });
  process.kill(processesIn(tty).commands[0]!, how);
  await expect.poll(counted, { message: how }).toEqual({ commands: 0, guards: 0 });
}

const screens = [
  ["top", ["top"], "no runs", "1 0 0"],
  ["chat", ["chat", "--model", "offline"], "Ctrl-D exits", "0 1 1"],
] as const;

for (const [name, args, shown, taken] of screens)
  test(`the terminal is restored after ${name} was killed or has crashed`, { timeout: 120_000 }, async ({ skip }) => {
    const tmux = await needs("tmux");
    if (tmux.missing !== undefined || process.platform !== "linux") return skip(tmux.missing ?? "reads /proc");
    const ends = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGKILL"] as const;
    const open = terminal(tmux.path, place(), args, {
      script: (line) =>
        // Enter is pressed when the guard has ended: what the shell prints before is on the screen that the guard leaves.
        `ulimit -c 0; stty eof ^E\nfor n in 1 2 3 4 5; do ${line}
       read go; echo "after: $(stty -a | grep -o 'eof = ^E')$(stty -a | grep -o ' -\\?echo ') $n"; read go; clear; done`,
    });
    onTestFinished(() => open.close());
    const tty = open.about("#{pane_tty}");
    for (const [index, how] of ends.entries()) {
      await open.until(shown);
      await expect.poll(() => open.about(MODES), { message: `${name} before ${how}` }).toBe(taken);
      await kill(open, tty, how);
      await expect.poll(() => open.about(MODES), { message: how }).toBe("0 1 1");
      open.keys("Enter");
      await open.until(`after: eof = ^E echo  ${index + 1}`);
      open.keys("Enter");
    }
  });

test("a terminal that belongs to another job is not changed", { timeout: 60_000 }, async ({ skip }) => {
  const tmux = await needs("tmux");
  if (tmux.missing !== undefined || process.platform !== "linux") return skip(tmux.missing ?? "reads /proc");
  const other = `sh -c 'printf "\\033[?1049h\\033[?25lOTHER"; exec sleep 600'`;
  const open = terminal(tmux.path, place(), ["top"], { script: (line) => `set -m\n${line}\n${other}` });
  onTestFinished(() => open.close());
  await open.until("no runs");
  const tty = open.about("#{pane_tty}");
  const { commands } = processesIn(tty);
  process.kill(commands[0]!, "SIGSTOP");
  await open.until("OTHER");
  process.kill(commands[0]!, "SIGKILL");
  await expect.poll(() => processesIn(tty)).toEqual({ commands: [], guards: [] });
  expect(open.about("#{alternate_on} #{cursor_flag}")).toBe("1 0");
});
