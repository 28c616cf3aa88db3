import { startTimer } from "../async/long-timer.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { reasonOf } from "../async/cancel.ts";
import { onAbort } from "../async/on-abort.ts";
import { collectOutput, type Output } from "./child-output.ts";
import { inheritedDescriptors, without } from "./inherited-descriptors.ts";
import {
  asFirst,
  bearersOf,
  descendantsOf,
  endBearers,
  endFirst,
  firstBelow,
  type FirstProcess,
  killFirst,
  signalAll,
  signalGroup,
} from "./process-tree.ts";
import { awaitReadingTurn } from "./reading-turns.ts";
import { type AfterKill, watchdogFor } from "./watchdog.ts";

/** A program to start: by its absolute path, with exactly this environment. */
export type ChildSpec = Readonly<{
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** A marker in the environment of all processes of the program, as `NAME=value`, to find them. */
  marker: string;
  /** True: the program is a sandbox: when it exits, every process in it has ended. */
  boxed?: true;
  /** Given: the program stays guarded after its end, until {@link Child.dismiss} is called. */
  ifKilled?: AfterKill;
  /** The text for the program's standard input; empty by default. */
  input?: string;
  /** The file for a long output, and the function that removes secrets from it. */
  outputFile?: string;
  redact?(text: string): string;
  onText?(text: string): void;
  /** Called with text from standard output only. */
  onOutput?(text: string): void;
  /** True: the child gets two more pipes, for programs of subcrew: it reads descriptor 3 and writes descriptor 4. */
  piped?: boolean;
  /**
   * Secret inputs. The program reads the first of them from descriptor 3 ({@link HANDED}), and the others from the
   * following descriptors.
   */
  handed?: readonly (string | Uint8Array)[];
  /** True: the program is interactive: stdin and stdout are pipes, and only stderr is kept as output. */
  talks?: boolean;
}>;

/** The first descriptor for secret inputs. */
export const HANDED = 3;

/** How a program ended. */
export type Exit = Readonly<{ code?: number; signal?: string; problem?: string }>;

export type Child = Readonly<{
  /** The process id; absent: the program could not be started. */
  pid?: number;
  output: Output;
  /** Settles when the program and all processes that it started have ended. */
  ended: Promise<Exit>;
  /**
   * Sends SIGTERM to the program and all processes that it started, then SIGKILL after the given time; settles when
   * they have ended.
   */
  kill(graceMs?: number): Promise<void>;
  /** Ends the watchdog of a program with `ifKilled`, when the work after the end of the program is done. */
  dismiss(): Promise<void>;
  /** This process's ends of the child's additional pipes. */
  pipes?: Readonly<{ input: Writable; output: Readable }>;
}>;

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;
/** Timeout for remaining output after the exit. */
const DRAIN_MS = 500;

/**
 * Starts a program in its own process group and session, with only its three streams. Processes that it leaves behind
 * are killed. Never throws: a failed start is a result.
 */
export function startChild(spec: ChildSpec): Child {
  const output = collectOutput({
    ...defined({ file: spec.outputFile, redact: spec.redact, onText: spec.onText }),
  });
  const watchdog = watchdogFor(spec);
  const child = launch(spec);
  if ("problem" in child) {
    return {
      output,
      ended: Promise.all([output.close(), spec.ifKilled ?? watchdog.dismiss()]).then(() => child),
      kill: async () => {},
      dismiss: watchdog.dismiss,
    };
  }
  if (child.pid !== undefined) watchdog.guard(child.pid);
  output.read(...(spec.talks ? [child.stderr] : [child.stdout, child.stderr]));
  const decoder = new TextDecoder();
  if (spec.onOutput)
    child.stdout?.on("data", (chunk: Buffer) => spec.onOutput?.(decoder.decode(chunk, { stream: true })));
  child.stdin?.on("error", () => {}); // the program may end before it has read everything
  if (!spec.talks) child.stdin?.end(spec.input);
  spec.handed?.forEach((text, at) => hand(child, HANDED + at, text));

  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => resolve({ problem: messageOf(error) }));
    child.once("exit", (code, signal) =>
      resolve({ ...(code !== null && { code }), ...(signal !== null && { signal }) }),
    );
  });
  let killing: Promise<void> | undefined;
  const found: { first?: FirstProcess | undefined } = {};
  const ended = exited.then(async (exit) => {
    if (child.pid !== undefined && !("problem" in exit)) await sweep(child.pid, spec, { exit, first: found.first });
    await output.drain(DRAIN_MS);
    child.stdout?.destroy();
    child.stderr?.destroy();
    await output.close();
    if (spec.ifKilled) watchdog.ended();
    else await watchdog.dismiss();
    return exit;
  });
  return {
    ...defined({ pid: child.pid }),
    output,
    ended,
    dismiss: watchdog.dismiss,
    kill: (graceMs = GRACE_MS) => {
      output.expectEnd();
      if (graceMs <= GRACE_MS) watchdog.hurry();
      const start = (): Promise<void> => kill(child, spec, { exited, ended, graceMs, found, output });
      if (graceMs === 0) return start();
      killing ??= start();
      return killing;
    },
    ...((spec.piped || spec.talks) && pipesOf(child, spec)),
  };
}

/** Why a program was stopped before its end. */
export type EarlyEnd = Readonly<{ by: "timeout" }> | Readonly<{ by: "cancelled"; reason: string }>;

/**
 * Waits for a program to end, and stops it after the timeout. `forgets`: its output is not needed once the program is
 * cancelled.
 */
export async function within(
  child: Child,
  {
    timeoutMs,
    signal,
    graceMs,
    forgets = false,
  }: { timeoutMs: number; signal: AbortSignal; graceMs?: number; forgets?: boolean },
): Promise<{ exit: Exit; cut?: EarlyEnd }> {
  let cut: EarlyEnd | undefined;
  const stop = (why: EarlyEnd) => (): void => {
    cut ??= why;
    child.kill(graceMs).catch(() => {});
  };
  const abort = (): void => {
    if (forgets && cut === undefined) child.output.forget();
    stop({ by: "cancelled", reason: reasonOf(signal) })();
  };
  const clear = startTimer(stop({ by: "timeout" }), timeoutMs);
  if (signal.aborted) abort();
  const release = onAbort(signal, abort);
  const exit = await child.ended;
  clear();
  release();
  return cut ? { exit, cut } : { exit };
}

function launch({
  file,
  args,
  cwd,
  env,
  input,
  piped = false,
  talks = false,
  handed,
}: ChildSpec): ChildProcess | { problem: string } {
  try {
    accessSync(file, constants.X_OK);
    const more = piped ? ["pipe" as const, "pipe" as const] : (handed ?? []).map(() => "pipe" as const);
    const unwanted = inheritedDescriptors().filter((fd) => fd > 2 + more.length);
    return spawn(...without(unwanted, file, args), {
      cwd,
      env,
      detached: true,
      shell: false,
      stdio: [input === undefined && !talks ? "ignore" : "pipe", "pipe", "pipe", ...more],
      windowsHide: true,
    });
  } catch (error) {
    return { problem: messageOf(error) }; // the program does not exist, or an argument is invalid
  }
}

function hand({ stdio }: ChildProcess, descriptor: number, text: string | Uint8Array): void {
  const pipe = stdio?.[descriptor] as Writable | null | undefined;
  pipe?.on("error", () => {}); // the program may end before it has read everything
  pipe?.end(text);
}

/**
 * Kills the rest of a process group whose leader has ended, and processes outside of the group that have the marker.
 */
async function sweep(
  pid: number,
  { marker, boxed }: ChildSpec,
  { exit, first }: Readonly<{ exit: Exit; first: FirstProcess | undefined }>,
): Promise<void> {
  // When a sandbox ends by itself, no process in it is left. When it is killed, its first process ends a moment after
  // all other processes.
  if (boxed && exit.signal === undefined) return;
  if (boxed && first !== undefined) return endFirst(first);
  signalGroup(pid, "SIGKILL");
  await endBearers(marker);
}

/**
 * The two additional pipes of a child. They are missing if the program could not start because all descriptors were in
 * use.
 */
function pipesOf({ stdio }: { stdio?: ChildProcess["stdio"] }, { talks }: ChildSpec): Pick<Child, "pipes"> {
  const [stdin, stdout, , more, other] = stdio ?? [];
  const [input, output] = talks ? [stdin, stdout] : [more, other];
  return input && output ? { pipes: { input: input as Writable, output: output as Readable } } : {};
}

type Ending = Readonly<{
  exited: Promise<Exit>;
  ended: Promise<Exit>;
  graceMs: number;
  /** The first process in the program's sandbox, once it was looked up. */
  found: { first?: FirstProcess | undefined };
  output: Output;
}>;

/** A program that waits for its SIGKILL. */
type Doomed = Readonly<{
  kill(): void;
  /** Called after all programs with the same deadline have been killed. */
  killed(): void;
}>;

/**
 * The deadlines of the programs that got a SIGTERM in this turn of the event loop. The key is the grace period in
 * milliseconds. This is module state on purpose, like `waiting` in `reading-turns.ts`.
 */
const deadlines = new Map<number, Deadline>();
type Deadline = Readonly<{ programs: Set<Doomed>; timer: NodeJS.Timeout }>;

/**
 * Kills a program when its time is up, unless the returned function was called before. Programs that are told to end in
 * the same turn of the event loop share a deadline: on a busy machine, ending thirty programs in one turn takes a
 * second, and the last program must not get a second more than the first. At the deadline, each of them gets its
 * SIGKILL before any other work is done.
 */
function atDeadline(graceMs: number, program: Doomed): () => void {
  const { programs, timer } = deadlines.get(graceMs) ?? deadlineIn(graceMs);
  programs.add(program);
  return () => {
    if (programs.delete(program) && programs.size === 0) clearTimeout(timer);
  };
}

function deadlineIn(graceMs: number): Deadline {
  const programs = new Set<Doomed>();
  const timer = setTimeout(() => {
    for (const { kill } of programs) kill();
    for (const { killed } of programs) killed();
  }, graceMs);
  const deadline = { programs, timer };
  deadlines.set(graceMs, deadline);
  setImmediate(() => deadlines.delete(graceMs));
  return deadline;
}

/** Sends SIGTERM, later SIGKILL. Afterwards the processes may still be ending. */
async function kill(
  { pid, stdout, stderr }: ChildProcess,
  { marker, boxed }: ChildSpec,
  { exited, ended, graceMs, found, output }: Ending,
): Promise<void> {
  if (pid === undefined) return void (await ended);
  const killGroup = (): void => {
    if (boxed) found.first ??= firstBelow(pid);
    signalGroup(pid, "SIGKILL");
    // Without this, the processes in the sandbox end one after the other, and each waits for the processor.
    if (found.first) killFirst(found.first);
  };
  // Nothing reads this output from now on. Closing the pipes is cheaper than reading what is left in them.
  const closePipes = (): void => {
    if (output.isForgotten()) for (const pipe of [stdout, stderr]) pipe?.destroy();
  };
  if (graceMs === 0) {
    killGroup();
    closePipes();
    return void (await ended);
  }
  // The time until SIGKILL starts now: on a busy machine the search for marked processes alone can take a second.
  let spare = (): void => {};
  const patience = new Promise<void>((resolve) => {
    const killed = (): void => {
      closePipes();
      resolve();
    };
    spare = atDeadline(graceMs, { kill: killGroup, killed });
  });
  // The sandbox itself gets no SIGTERM: the sandbox would kill everything in it at once.
  if (!boxed) signalGroup(pid, "SIGTERM");
  let over = false;
  void exited.then(() => {
    over = true;
  });
  const ask = async (): Promise<void> => {
    if (over && boxed) return;
    // A process cannot leave its sandbox, so all processes of the command are descendants of the sandbox.
    const below = boxed ? descendantsOf(pid) : undefined;
    if (below?.[0] !== undefined) found.first ??= asFirst(below[0]);
    const members = below ?? (await bearersOf(marker));
    signalAll(boxed ? members.filter((each) => each !== pid) : members, "SIGTERM");
  };
  // One search per turn of the event loop: recording a pause must not wait until thirty commands have been found.
  awaitReadingTurn(() => void ask().catch(() => {}));
  await Promise.race([exited, patience]);
  spare();
  await ended;
}
