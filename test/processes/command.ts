import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The built command. */
export const command = join(import.meta.dirname, "..", "..", "dist", "cli", "main.js");
if (!existsSync(command)) throw new Error("dist/cli/main.js is missing: run `npm run build` first");

/** Everything of one worker, which loads this once for several test files; their tests may run side by side. */
const root = realpathSync(mkdtempSync(join(tmpdir(), "subcrew-cli-")));
process.once("exit", () => rmSync(root, { recursive: true, force: true }));

export type Ended = Readonly<{
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  ms: number;
}>;

export type Options = Readonly<{
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  input?: string;
  /** A program that runs the command, with its own arguments before it. */
  through?: readonly string[];
}>;

/** A workspace with these files, and homes of its own that the command is told of. */
export type Place = Readonly<{
  workspace: string;
  home: string;
  env: Readonly<Record<string, string>>;
  /** Runs the command to its end. */
  run(args: readonly string[], options?: Options): Promise<Ended>;
  /** Starts the command and leaves it running. */
  start(args: readonly string[], options?: Options): Started;
}>;

export type Started = Readonly<{
  child: ChildProcessWithoutNullStreams;
  ended: Promise<Ended>;
  /** Waits until the command has printed this. */
  until(text: string | RegExp): Promise<void>;
}>;

/** A fresh place; it is gone when the worker ends. */
export function place(files: Readonly<Record<string, string>> = {}): Place {
  const folder = mkdtempSync(join(root, "place-"));
  const [workspace, home] = [join(folder, "work"), join(folder, "home")];
  for (const made of [workspace, home]) mkdirSync(made);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    SUBCREW_HOME: join(home, "state"),
    LANG: "C.UTF-8",
    TERM: "xterm",
  };
  const start = (
    args: readonly string[],
    { cwd = workspace, env: more = {}, input = "", through = [] }: Options = {},
  ): Started => {
    const began = performance.now();
    const [file = process.execPath, ...rest] = [...through, process.execPath, command, ...args];
    const child = spawn(file, rest, { cwd, env: { ...env, ...more } });
    let stdout = "";
    let stderr = "";
    const waiting = new Set<() => void>();
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      for (const look of waiting) look();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
      for (const look of waiting) look();
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr, ms: performance.now() - began }));
    });
    const until = (text: string | RegExp): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const all = stdout + stderr;
          if (typeof text === "string" ? !all.includes(text) : !text.test(all)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        child.on("close", () =>
          reject(new Error(`the command ended without printing ${String(text)}:\n${stdout}${stderr}`)),
        );
        look();
      });
    return { child, ended, until };
  };
  return { workspace, home, env, start, run: (args, options) => start(args, options).ended };
}

/** A file for `--model scripted:FILE`. */
export const script = (...turns: readonly unknown[]): string => JSON.stringify(turns);

/** A task that plays `turns.json` and whose commands run as they are, unasked. */
export const anyCommand: readonly string[] =
  "run bash x --model scripted:turns.json --permission-mode bypass --sandbox off".split(" ");
