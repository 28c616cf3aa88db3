import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { command, type Place } from "./command.ts";

/** A real terminal of a given size in which the command runs. */
export type Terminal = Readonly<{
  keys(...keys: readonly string[]): void;
  /** Pastes a text as a terminal with bracketed paste does. */
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** The text on the screen. */
  screen(): string[];
  /** Everything that was on the screen since the start. */
  history(): string;
  /** The same text with its colours as escape sequences. */
  colors(): string;
  /** A value that tmux knows about the terminal, such as `#{alternate_on}`. */
  about(format: string): string;
  /** Waits until the screen shows this text. */
  until(text: string | RegExp): Promise<string[]>;
  close(): void;
}>;

let number = 0;

/** Runs the command in a terminal; `[exit N]` is on the screen when it has ended. */
export function terminal(
  tmux: string,
  { workspace, env }: Place,
  args: readonly string[],
  {
    columns = 80,
    rows = 24,
    env: more = {},
    script = (line) => `${line}\necho "[exit $?]"`,
  }: {
    columns?: number;
    rows?: number;
    env?: Readonly<Record<string, string>>;
    /** The shell line that runs the command. */
    script?: (line: string) => string;
  } = {},
): Terminal {
  number += 1;
  const socket = `subcrew-${randomUUID()}`; // files are tested in parallel in one process
  const started = join(workspace, `.start-${number}.sh`);
  const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
  writeFileSync(
    started,
    `trap : INT\necho '$ subcrew'\n${Object.entries(more)
      .map(([name, value]) => `export ${name}=${quote(value)}\n`)
      .join("")}${script([process.execPath, command, ...args].map(quote).join(" "))}\nexec sleep 600\n`,
  );
  const server = (...rest: readonly string[]): string =>
    execFileSync(tmux, ["-L", socket, "-f", "/dev/null", ...rest], {
      encoding: "utf8",
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
  server(
    "new-session",
    "-d",
    "-s",
    "s",
    "-x",
    String(columns),
    "-y",
    String(rows),
    "-c",
    workspace,
    "/bin/sh", // two words: with one, a login shell would be in between, and signals of the terminal would end it
    started,
  );
  const screen = (): string[] => server("capture-pane", "-p", "-t", "s").trimEnd().split("\n");
  const terminal: Terminal = {
    screen,
    history: () => server("capture-pane", "-p", "-t", "s", "-S", "-"),
    colors: () => server("capture-pane", "-p", "-e", "-t", "s", "-S", "-"),
    about: (format) => server("display-message", "-p", "-t", "s", format).trim(),
    keys: (...keys) => void server("send-keys", "-t", "s", ...keys),
    paste: (text) => {
      server("set-buffer", "--", text);
      server("paste-buffer", "-p", "-t", "s");
    },
    resize: (width, height) => void server("resize-window", "-t", "s", "-x", String(width), "-y", String(height)),
    until: async (text) => {
      for (const end = performance.now() + 60_000; performance.now() < end; await sleep(40)) {
        const lines = screen();
        if (typeof text === "string" ? lines.join("\n").includes(text) : text.test(lines.join("\n"))) return lines;
      }
      throw new Error(
        `the terminal never showed ${String(text)}:\n${screen().join("\n")}\n${processesAt(terminal.about("#{pane_tty}"))}`,
      );
    },
    close: () => {
      try {
        server("kill-server");
      } catch {
        // it has ended by itself
      }
    },
  };
  return terminal;
}

/** The processes of a terminal and its keyboard settings, for the report of a failure. */
function processesAt(tty: string): string {
  const { stdout } = spawnSync("sh", ["-c", `ps -o pid,ppid,pgid,tpgid,stat,wchan,args -t ${tty}; stty -a <${tty}`]);
  return String(stdout);
}
