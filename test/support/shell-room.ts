import { execFileSync } from "node:child_process";
import { join, relative } from "node:path";
import { beforeAll, beforeEach, onTestFinished } from "vitest";
import type { ShellCommandResult } from "../../src/core/task/shell-commands.ts";
import { createShellCommands, type ShellHost, type ShellSetting } from "../../src/runtime/commands/commands.ts";
import { InFlight } from "../../src/runtime/commands/in-flight.ts";
import { probeSandbox, type SandboxLevel } from "../../src/runtime/commands/probe-sandbox.ts";
import { type Need, needs, needsTimeout } from "../needs.ts";
import { tempFolder } from "./temp-folder.ts";

/** The text of every secret. */
export const CANARY = "canary-71b3";

export type ShellRoom = { all: string; ws: string; out: string; home: string };

/** A workspace, a folder outside of it, and a home folder with secrets. */
export function room(files: Readonly<Record<string, string>> = {}): ShellRoom {
  const all = tempFolder({
    "outside/secret.txt": CANARY,
    "home/.ssh/id": CANARY,
    "home/.aws/credentials": CANARY,
    "home/.npmrc": CANARY,
    "home/notes.txt": "fine",
    "ws/a.txt": "a",
    ...files,
  });
  onTestFinished(() => void execFileSync("chmod", ["-R", "u+rwx", all]));
  return { all, ws: join(all, "ws"), out: join(all, "outside"), home: join(all, "home") };
}

/** The shell commands of a task in such a place. */
export function host({ ws, home }: ShellRoom, sandbox: SandboxLevel, more: Partial<ShellSetting> = {}): ShellHost {
  const made = createShellCommands({
    name: `test-${process.pid}-${Date.now()}`,
    cwd: ws,
    writable: [ws],
    wish: "auto",
    sandbox,
    network: () => false,
    inFlight: new InFlight(),
    rootAt: (root) => ({ root, place: relative(ws, root), named: relative(ws, root), homes: [] }),
    allow: () => [],
    homes: [home],
    hidden: async () => [],
    env: () => ({ PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, LANG: "C" }),
    ...more,
  });
  onTestFinished(() => made.end());
  return made;
}

const never = new AbortController().signal;

export const run = (
  { commands }: ShellHost,
  command: string,
  more: { timeoutMs?: number; signal?: AbortSignal; input?: string } = {},
): Promise<ShellCommandResult> =>
  commands.run(command, { timeoutMs: 200_000, signal: never, report: () => {}, ...more });

/** The output of a command. */
export const said = async (commands: ShellHost, command: string): Promise<string> =>
  (await run(commands, command)).text.trim();

/** Skips the tests of a suite where bubblewrap is missing, and returns the sandbox of this machine to the others. */
export function withSandbox(): () => SandboxLevel {
  let bwrap: Need;
  let full: SandboxLevel;
  beforeAll(async () => {
    bwrap = await needs("bwrap");
    full = await probeSandbox();
  }, needsTimeout);
  beforeEach((context) => {
    if (bwrap.missing !== undefined) context.skip(bwrap.missing);
  });
  return () => full;
}
