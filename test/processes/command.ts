import { type ChildProcess, type ChildProcessWithoutNullStreams, fork, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The built command. */
export const command = join(import.meta.dirname, "..", "..", "dist", "cli", "main.js");
if (!existsSync(command)) throw new Error("dist/cli/main.js is missing: run `npm run build` first");

/** The folder of one worker, which loads this module once for several test files; their tests may run in parallel. */
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
  /**
   * Whether the command may run in a process that all tests of this worker share, one command after the other, instead
   * of its own process. Without this, `canBeShared` decides.
   */
  shared?: boolean;
}>;

/** A workspace with these files, and its own home folders, which the command gets in variables. */
export type Place = Readonly<{
  workspace: string;
  home: string;
  env: Readonly<Record<string, string>>;
  /**
   * Runs the command until it ends. It runs in a process that is used for many commands, if `options.shared` allows it
   * and such a process is free, and otherwise in its own process.
   */
  run(args: readonly string[], options?: Options): Promise<Ended>;
  /** Starts the command in its own process and leaves it running. */
  start(args: readonly string[], options?: Options): Started;
}>;

export type Started = Readonly<{
  child: ChildProcessWithoutNullStreams;
  ended: Promise<Ended>;
  /** Waits until the command has printed this text. */
  until(text: string | RegExp): Promise<void>;
}>;

/** A new place; it is deleted when the worker ends. */
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
  return {
    workspace,
    home,
    env,
    start,
    run: (args, options = {}) => {
      const host = (options.shared ?? canBeShared(args, options)) ? freeHost(args) : undefined;
      if (!host) return start(args, options).ended;
      const { cwd = workspace, env: more, input = "" } = options;
      return runShared(host, { args, cwd, env: { ...env, ...more }, input });
    },
  };
}

/** Commands that only print something and return at once. */
const LOOKING = new Set(
  "agents config doctor gc inbox models plan ps result rm runs show skills status trust".split(" "),
);
const onlyLooks = (args: readonly string[]): boolean => LOOKING.has(args[0] ?? "") || args.includes("--help");

/** Servers, which use standard input and output below the level that the shared process replaces. */
const SERVERS = new Set("a2a acp mcp web worker".split(" "));

/**
 * Commands that need their own process: also a terminal editor, and variables that Node or the fault points read at the
 * start.
 */
function canBeShared(args: readonly string[], { through = [], env = {} }: Options): boolean {
  if (through.length > 0 || args.includes("edit") || (SERVERS.has(args[0] ?? "") && !onlyLooks(args))) return false;
  return !Object.keys(env).some((name) => /^(NODE_|SUBCREW_.*FAULT|LD_)/.test(name));
}

type Request = Readonly<{ args: readonly string[]; cwd: string; env: Readonly<Record<string, string>>; input: string }>;
type Answer = Readonly<{ id: number; code: number | null; stdout: string; stderr: string; broken?: string }>;
type Waiting = Readonly<{ looks: boolean; answer: (answer: Answer) => void }>;

/** A process that runs commands one after the other, and the commands that it has not ended. */
type Host = Readonly<{ child: ChildProcess; waiting: Map<number, Waiting> }>;

const hosts: Host[] = [];
/**
 * The number of host processes: as many as the commands that one test file runs at once. Each takes the memory of a
 * command.
 */
const MOST_HOSTS = 3;
let requests = 0;

/**
 * A process that runs this command at once. Two commands of one test may wait for each other, so only a read-only
 * command may queue, behind other read-only ones. `undefined` if all processes are busy.
 */
function freeHost(args: readonly string[]): Host | undefined {
  const isIdle = ({ waiting }: Host): boolean => waiting.size === 0;
  const looksOnly = ({ waiting }: Host): boolean => [...waiting.values()].every(({ looks }) => looks);
  const free = hosts.find(isIdle) ?? (onlyLooks(args) ? hosts.find(looksOnly) : undefined);
  return free ?? (hosts.length < MOST_HOSTS ? startHost() : undefined);
}

/** Lets a shared process run a command line; the output and the exit code are those of the command. */
async function runShared({ child, waiting }: Host, request: Request): Promise<Ended> {
  const began = performance.now();
  requests += 1;
  const id = requests;
  const answer = await new Promise<Answer>((resolve) => {
    waiting.set(id, { looks: onlyLooks(request.args), answer: resolve });
    child.send({ id, ...request });
  });
  const { code, stdout, stderr, broken } = answer;
  if (broken !== undefined) throw new Error(`the shared process could not run ${request.args.join(" ")}: ${broken}`);
  return { code, signal: null, stdout, stderr, ms: performance.now() - began };
}

function startHost(): Host {
  const child = fork(join(import.meta.dirname, "command-host.mjs"), [command], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const host: Host = { child, waiting: new Map() };
  hosts.push(host);
  child.on("message", (message) => {
    const answer = message as Answer;
    host.waiting.get(answer.id)?.answer(answer);
    host.waiting.delete(answer.id);
  });
  child.on("exit", (code, signal) => {
    const stderr = `the shared process ended (${code ?? signal})`;
    hosts.splice(hosts.indexOf(host), 1);
    for (const [id, { answer }] of host.waiting) answer({ id, code: null, stdout: "", stderr, broken: stderr });
  });
  child.unref();
  child.channel?.unref();
  process.once("exit", () => child.kill());
  return host;
}

/** A file for `--model scripted:FILE`. */
export const script = (...turns: readonly unknown[]): string => JSON.stringify(turns);

/** A task that plays `turns.json` and whose commands run without a sandbox and without approval. */
export const anyCommand: readonly string[] =
  "run bash x --model scripted:turns.json --permission-mode bypass --sandbox off".split(" ");
