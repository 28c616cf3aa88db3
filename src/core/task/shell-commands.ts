import type { ShellState } from "../policy/judge-call.ts";

/**
 * Commands on this machine, inside the sandbox of the run when there is one. Commands end with the task that started
 * them.
 */
export type ShellCommands = Readonly<{
  state: ShellState;
  /** True: the sandbox has no network, and without network this command would fail or has already failed. */
  lacksNetwork(command: string): boolean;
  /** One line of text about the sandbox of the commands. */
  isolation: string;
  /** Runs a command until it ends, times out or the signal aborts. */
  run(command: string, options: ShellCommandOptions): Promise<ShellCommandResult>;
  /** Starts a shell command in the background. */
  start(command: string, options?: Readonly<{ network?: boolean }>): Promise<UnawaitedCommand>;
  /** Background commands in start order, including commands that have ended. */
  started(): readonly UnawaitedCommand[];
}>;

export type ShellCommandOptions = Readonly<{
  timeoutMs: number;
  signal: AbortSignal;
  report(text: string): void;
  /** True: the command may use the network, whatever the policy says about other commands. */
  network?: boolean;
  /** The text that the command reads from its standard input; empty by default. */
  input?: string;
}>;

/** How a command ended. `not-started`: the command never ran; all other values are results of the command. */
export type ShellCommandResult = Readonly<{
  ended: "exited" | "killed" | "timeout" | "cancelled" | "not-started";
  /** The exit code, if the command exited by itself. */
  code?: number;
  signal?: string;
  /** True: the command failed because the sandbox has no network, as its output shows. */
  missedNetwork?: true;
  /** The output and error output in order; only the last part if it is long. */
  text: string;
  /** Bytes missing at the beginning of `text`, and the file with the full output. */
  cutBytes: number;
  file?: string;
  /** Protected files that the command created, and their names in the quarantine. */
  setAside?: readonly Readonly<{ place: string; now: string; problem?: string; repository?: true }>[];
}>;

export type UnawaitedCommand = Readonly<{
  id: string;
  command: string;
  /** The output since the last read. */
  news(): string;
  /** The result of the command, once it has ended. */
  result(): ShellCommandResult | undefined;
  kill(): Promise<void>;
}>;
