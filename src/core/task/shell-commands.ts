import type { ShellState } from "../policy/judge-call.ts";

/** Commands on this machine, inside the sandbox of the run when there is one. Commands end with the task that started them. */
export type ShellCommands = Readonly<{
  state: ShellState;
  /** True: the sandbox has no network, so this command would fail, or has failed for that reason. */
  lacksNetwork(command: string): boolean;
  /** One line about their sandbox. */
  isolation: string;
  /** Runs a command until it ends, times out or the signal aborts. */
  run(command: string, options: ShellCommandOptions): Promise<ShellCommandResult>;
  /** Starts a background command. */
  start(command: string, options?: Readonly<{ network?: boolean }>): Promise<UnawaitedCommand>;
  /** Background commands in start order, including ended ones. */
  started(): readonly UnawaitedCommand[];
}>;

export type ShellCommandOptions = Readonly<{
  timeoutMs: number;
  signal: AbortSignal;
  report(text: string): void;
  /** It may use the network, whatever the policy says about other commands. */
  network?: boolean;
  /** What it reads from its standard input; nothing by default. */
  input?: string;
}>;

/** How a command ended. `not-started`: the command never ran; all others are results of the command. */
export type ShellCommandResult = Readonly<{
  ended: "exited" | "killed" | "timeout" | "cancelled" | "not-started";
  /** The exit code, if the command exited by itself. */
  code?: number;
  signal?: string;
  /** The command failed because the sandbox has no network, as its output shows. */
  missedNetwork?: true;
  /** Output of both streams in order; only the tail if it is long. */
  text: string;
  /** Bytes missing at the beginning of `text`, and the file with the full output. */
  cutBytes: number;
  file?: string;
  /** Protected files that it created, and their quarantine names. */
  setAside?: readonly Readonly<{ place: string; now: string; problem?: string; repository?: true }>[];
}>;

export type UnawaitedCommand = Readonly<{
  id: string;
  command: string;
  /** Output since the last read. */
  news(): string;
  /** The result, once it has ended. */
  result(): ShellCommandResult | undefined;
  kill(): Promise<void>;
}>;
