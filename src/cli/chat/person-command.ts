import { spawn } from "node:child_process";
import { fence } from "../../core/text/fence.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { fit } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import { restoreOnEnd } from "../terminal/restore-terminal.ts";
import type { OtherWork } from "../watch/run-screen.ts";
import type { ChatTerminal } from "./chat-terminal.ts";

/** Shows the output of a shell command that the person typed, while it runs. */
export type CommandView = Readonly<{
  lines(lines: string[]): void;
  during<T>(work: OtherWork, ended: Promise<T>): Promise<T>;
  look?: Look;
  columns?(): number;
}>;

/** Prints complete lines of a command above the prompt, and shows its last, incomplete line below them. */
export const createCommandView = (chat: Pick<ChatTerminal, "print" | "during">, look: Look): CommandView => ({
  lines: (lines) => chat.print(lines.join("\n")),
  during: (work, ended) => chat.during(work, ended),
  look,
  columns: () => (process.stderr.columns || 80) - 1,
});

/**
 * The interval of printing, and the maximum number of lines per print: a command can print faster than a terminal
 * shows.
 */
const PRINT_MS = 100;
const MOST_AT_ONCE = 500;
/** The time for a command to end after each signal: Ctrl-C sends SIGINT, then SIGTERM and SIGKILL follow. */
const PATIENCE_MS = 1_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGKILL"] as const;

/** Runs a command with the rights of the person until it ends or is stopped. Returns a text about how it ended. */
async function runPersonCommand(
  command: string,
  { received, lines, during, look, columns }: CommandView & Readonly<{ received(text: string): void }>,
): Promise<string> {
  // The command gets its own process group, so that all its child processes can be stopped with it.
  const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let open = "";
  let ready: string[] = [];
  let asked = 0;
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-child.pid!, name);
    } catch {
      // the process has already ended
    }
  };
  const stop = (): void => {
    const name = SIGNALS[asked];
    if (name === undefined || child.exitCode !== null || child.signalCode !== null) return;
    asked += 1;
    signal(name);
    setTimeout(stop, PATIENCE_MS).unref();
  };
  const withdraw = restoreOnEnd(() => signal("SIGKILL"));
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      received(chunk);
      const parts = `${open}${chunk}`.split("\n");
      open = parts.pop()!.slice(-LONGEST_LINE);
      ready.push(...parts.map(shownLine));
    });
  const print = (): void => {
    const left = Math.max(0, ready.length - MOST_AT_ONCE);
    const some = ready.slice(left);
    ready = [];
    if (some.length > 0) lines(left > 0 ? [`(${left} lines are not shown)`, ...some] : some);
  };
  const timer = setInterval(print, PRINT_MS);
  const ended = new Promise<string>((done) => {
    child.once("error", ({ message }) => done(`the command could not be started: ${message}`));
    child.once("close", (code, by) => done(by === null ? `exit code ${code ?? "unknown"}` : `ended by ${by}`));
  });
  const rows = (most: number, tick: number): string[] => {
    const sign = look?.signs.spinner[tick % look.signs.spinner.length] ?? "";
    const line = shownLine(open);
    return [fit(line === "" ? `${sign} running` : line, columns?.() ?? 79, look?.signs.more ?? "...")].slice(0, most);
  };
  try {
    return await during({ rows, stop }, ended);
  } finally {
    withdraw();
    clearInterval(timer);
    if (open !== "") ready.push(shownLine(open));
    print();
  }
}

const LONGEST_LINE = 20_000;

/** The visible text of a line: the part after the last carriage return. */
const shownLine = (line: string): string =>
  sanitize(line.replace(/\r+$/, "").split("\r").at(-1) ?? "").replaceAll("\t", "    ");

/** Shell commands that the person types in a conversation. */
export type PersonCommands = Readonly<{
  /** Runs a shell command that the person typed, and keeps its output for the next message. */
  runCommand(command: string): Promise<void>;
  /** Adds the output of the commands that were run since the last message. */
  withCommands(text: string): string;
}>;

/** The maximum number of characters of command output that the agent gets; the rest is cut. */
const MOST_OUTPUT = 20_000;

/** Runs `!command` with the rights of the person. The next message contains its output. */
export function personCommands(print: (text: string) => void, view: CommandView): PersonCommands {
  let before: string[] = [];
  return {
    runCommand: async (command) => {
      if (command === "") return print("Type a command after the exclamation mark, as in `!git status`.");
      let output = "";
      const ended = await runPersonCommand(command, {
        ...view,
        received: (text) => {
          output = `${output}${text}`.slice(-MOST_OUTPUT);
        },
      });
      const text = sanitize(output).trimEnd();
      const said = [...(text === "" ? ["(no output)"] : []), ...(ended === "exit code 0" ? [] : [ended])];
      if (said.length > 0) print(said.join("\n"));
      before.push(`I ran \`${command}\` (${ended}). It printed:\n\n${fence(text, "")}`);
    },
    withCommands: (text) => {
      const all = [...before, text].join("\n\n");
      before = [];
      return all;
    },
  };
}
