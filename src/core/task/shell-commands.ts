import type { ShellState } from "../policy/judge-call.ts";

/** Commands on this machine, inside the sandbox of the run when there is one. What a task starts ends with it. */
export type ShellCommands = Readonly<{
  state: ShellState;
  /** One line about what isolates them. */
  isolation: string;
  /** Runs one to its end, to the end of its time, or until the signal aborts. */
  run(command: string, options: ShellCommandOptions): Promise<ShellCommandResult>;
  /** Starts one that goes on while the task does other things. */
  start(command: string): Promise<UnawaitedCommand>;
  /** Those that were started, in order; also those that ended. */
  started(): readonly UnawaitedCommand[];
}>;

export type ShellCommandOptions = Readonly<{
  timeoutMs: number;
  signal: AbortSignal;
  report(text: string): void;
  /** What it reads from its standard input; nothing by default. */
  input?: string;
}>;

/** How a command ended. `not-started` is about us, everything else about the command. */
export type ShellCommandResult = Readonly<{
  ended: "exited" | "killed" | "timeout" | "cancelled" | "not-started";
  /** The exit code, when it had the chance to give one. */
  code?: number;
  signal?: string;
  /** What it printed, both streams as they came; of a long one the end. */
  text: string;
  /** How much of the beginning is missing in `text`, and where all of it is kept. */
  cutBytes: number;
  file?: string;
  /** Protected things that it made, and what they are called now. */
  setAside?: readonly Readonly<{ place: string; now: string; problem?: string }>[];
}>;

export type UnawaitedCommand = Readonly<{
  id: string;
  command: string;
  /** What it printed since the last time somebody asked. */
  news(): string;
  /** How it ended, once it has. */
  result(): ShellCommandResult | undefined;
  kill(): Promise<void>;
}>;
