import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import type { UnawaitedCommand, ShellCommandResult, ShellCommands } from "../../core/task/shell-commands.ts";
import { missedNetwork, needsNetwork } from "../../core/shell/needs-network.ts";
import { defined } from "../../core/text/defined.ts";
import { folderContains } from "../files/folder-contains.ts";
import type { QuarantinedFile } from "../files/quarantine.ts";
import { type Child, type ChildSpec, type EarlyEnd, type Exit, HANDED, startChild, within } from "./child.ts";
import type { GuardedCommand } from "./in-flight.ts";
import { type SandboxLevel, type SandboxWish, shellFile } from "./probe-sandbox.ts";
import { handedArgs, handedOptions } from "./sandbox-args.ts";
import { type MountSetting, mountsFor } from "./sandbox-mounts.ts";
import { seccompFilter } from "./seccomp.ts";

/** All settings for the commands of one task. No setting comes from a model. */
export type ShellSetting = MountSetting &
  Readonly<{
    /** The path of the start folder as permission rules write it. */
    place?: string;
    wish: SandboxWish;
    sandbox: SandboxLevel;
    /** True: commands may create user namespaces. */
    namespaces?: boolean;
    /**
     * The program that the watchdog starts if this process is killed. It quarantines the protected files that a command
     * created.
     */
    finisher?: string;
    /** The environment of commands when they start. */
    env(): Readonly<Record<string, string>>;
    /** The folder for long outputs, and the function that removes secrets from them. */
    outputs?: string;
    redact?(text: string): string;
  }>;

/** The commands of a task, and a function that ends all of them. */
export type ShellHost = Readonly<{ commands: ShellCommands; end(): Promise<void> }>;

/** Maximum number of background commands of a task. */
const MOST_BACKGROUND = 20;

/** Runs commands: in the sandbox if this machine has one and the user has not disabled it. */
export function createShellCommands(setting: ShellSetting): ShellHost {
  const background: UnawaitedCommand[] = [];
  const running = new Set<Running>();
  /** Commands whose sandbox is being prepared. */
  const preparing = new Set<Promise<unknown>>();
  let count = 0;
  let over = false;

  /** Commands that failed because the sandbox has no network. */
  const starved = new Set<string>();
  const sandboxed = setting.wish !== "off" && setting.sandbox.bwrap !== undefined;
  /** Starts a command; undefined when it was cancelled, or all commands were ended, before it could start. */
  const startUnlessOver = async (
    command: string,
    { input, report, network, signal }: LaunchOptions,
  ): Promise<Running | undefined> => {
    const { spec, release, began, ending } = await specFor({ ...setting, network: () => network }, command, ++count);
    if (over || signal?.aborted) return void (await release());
    const child = startChild({ ...spec, ...defined({ input, onText: report }) });
    if (child.pid !== undefined) began?.(child.pid);
    const kill: Child["kill"] = (graceMs) => {
      ending?.();
      return child.kill(graceMs);
    };
    const alive: Running = {
      ...child,
      kill,
      over: child.ended.then(async (exit) => {
        try {
          return { exit, aside: await release() };
        } finally {
          // not awaited: on a busy machine, waiting until the watchdog has ended would take longer than everything else
          void child.dismiss();
        }
      }),
    };
    running.add(alive);
    alive.over.finally(() => running.delete(alive)).catch(() => {});
    return alive;
  };
  const launch = async (command: string, options: LaunchOptions): Promise<Running | undefined> => {
    const started = startUnlessOver(command, options);
    preparing.add(started);
    try {
      return await started;
    } finally {
      preparing.delete(started);
    }
  };

  const commands: ShellCommands = {
    state: {
      sandboxed: setting.wish !== "off" && setting.sandbox.level === "full",
      waived: setting.wish === "off",
      roots: setting.writable,
      ...defined({ place: setting.place }),
    },
    isolation: setting.sandbox.text,
    lacksNetwork: (command) => sandboxed && !setting.network() && (starved.has(command) || needsNetwork(command)),
    run: async (command, { timeoutMs, signal, report, input, network: granted = false }) => {
      if (signal.aborted) return NOT_BEGUN;
      const network = granted || setting.network();
      const child = await launch(command, { report, network, signal, ...defined({ input }) });
      if (!child) return NOT_BEGUN;
      const { cut } = await within(child, { timeoutMs, signal, forgets: true });
      const result = resultOf(child, await child.over, cut);
      if (network || !sandboxed || cut?.by === "cancelled" || result.code === 0 || !missedNetwork(result.text))
        return result;
      starved.add(command);
      return { ...result, missedNetwork: true };
    },
    start: async (command, { network = false } = {}) => {
      const alive = background.filter((each) => each.result() === undefined);
      if (alive.length >= MOST_BACKGROUND)
        throw new Error(`${MOST_BACKGROUND} commands are running in the background: stop one first`);
      const child = await launch(command, { network: network || setting.network() });
      if (!child) throw new Error("the task is ending, so the command was not started");
      let result: ShellCommandResult | undefined;
      let killed = false;
      const ended = child.over.then((end) => {
        result = resultOf(child, end, killed ? { by: "cancelled", reason: "killed" } : undefined);
      });
      const started: UnawaitedCommand = {
        id: `shell_${background.length + 1}`,
        command,
        news: () => child.output.news(),
        result: () => result,
        kill: async () => {
          killed ||= result === undefined;
          await child.kill();
          await ended;
        },
      };
      background.push(started);
      return started;
    },
    started: () => background,
  };
  return {
    commands,
    end: async () => {
      over = true;
      await Promise.allSettled(preparing);
      await Promise.all(background.map((each) => each.kill()));
      await Promise.all(
        [...running].map(async (child) => {
          await child.kill();
          await child.over;
        }),
      );
    },
  };
}

type LaunchOptions = Readonly<{
  input?: string;
  report?: (text: string) => void;
  network: boolean;
  /** When this signal aborts before the command has started, the command is not started. */
  signal?: AbortSignal;
}>;

/** The result of a command that was cancelled before it started. */
const NOT_BEGUN: ShellCommandResult = { ended: "cancelled", text: "", cutBytes: 0 };

/** A running program; `over` settles after it has ended and the files that it created were checked. */
type Running = Child & Readonly<{ over: Promise<End> }>;
type End = Readonly<{ exit: Exit; aside: readonly QuarantinedFile[] }>;

function resultOf(
  { output }: Child,
  { exit: { code, signal, problem }, aside }: End,
  cut: EarlyEnd | undefined,
): ShellCommandResult {
  const file = output.file();
  const rest = {
    ...(aside.length > 0 && { setAside: aside }),
    cutBytes: output.cutBytes(),
    ...defined({ file, code, signal }),
  };
  if (problem !== undefined) return { ...rest, ended: "not-started", text: problem };
  const ended = cut?.by ?? (signal === undefined ? "exited" : "killed");
  return { ...rest, ended, text: output.text() };
}

/**
 * Cleans up after a program has ended. Returns the protected files that the program created and that were quarantined.
 */
type Release = () => Promise<readonly QuarantinedFile[]>;

/** The program that executes a command, and its cleanup. */
async function specFor(
  setting: ShellSetting,
  command: string,
  number: number,
): Promise<{ spec: ChildSpec; release: Release; began?: GuardedCommand["began"]; ending?: GuardedCommand["ending"] }> {
  const { sandbox, wish, cwd, outputs, redact } = setting;
  const boxed = wish !== "off" && sandbox.bwrap !== undefined;
  const id = `${setting.name}/${randomBytes(6).toString("hex")}`;
  const env = {
    ...setting.env(),
    PATH: safePath(setting.env()["PATH"], setting.writable),
    ...(boxed && { TMPDIR: "/tmp" }),
    SUBCREW_RUN: id,
  };
  const shell = [shellFile(), "--noprofile", "--norc", "-c", command].filter(
    (word, at) => at === 0 || shellFile().endsWith("bash") || !word.startsWith("--no"),
  );
  const outputFile =
    outputs === undefined ? undefined : join(outputs, `${number}-${randomBytes(4).toString("hex")}.txt`);
  if (outputFile !== undefined) await mkdir(dirname(outputFile), { recursive: true, mode: 0o700 });
  const common = {
    cwd,
    marker: `SUBCREW_RUN=${id}`,
    ...defined({ outputFile, redact }),
  };
  if (!boxed)
    return {
      spec: { ...common, file: shell[0]!, args: shell.slice(1), env },
      release: async () => [],
    };
  const { box, guarded } = await mountsFor(setting, env, common.marker);
  const { record } = guarded;
  const filter = seccompFilter(process.arch, setting);
  // The sandbox program needs only PATH; the command inside of it gets its own environment.
  return {
    spec: {
      ...common,
      cwd: "/",
      file: sandbox.bwrap,
      args: handedArgs(HANDED, shell),
      handed: [handedOptions(box), ...(filter ? [filter] : [])],
      env: { SUBCREW_RUN: id },
      boxed: true,
      ...(record !== undefined &&
        setting.finisher !== undefined && {
          ifKilled: { program: [process.execPath, setting.finisher], record },
        }),
    },
    release: guarded.end,
    began: guarded.began,
    ending: guarded.ending,
  };
}

const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * A search path without folders that programs can write: a rule for `git` must not match a file called git in the
 * project.
 */
export function safePath(path: string | undefined, writable: readonly string[]): string {
  const folders = (path ?? "")
    .split(":")
    .filter((folder) => isAbsolute(folder) && !writable.some((root) => folderContains(root, folder)));
  return folders.length === 0 ? USUAL_PATH : folders.join(":");
}
