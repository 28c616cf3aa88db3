import type { z } from "zod";
import type { Catalog } from "../delegation/catalog.ts";
import type { Spawns } from "../vocabulary/spawn-list.ts";
import type { ImageContent } from "../model/images.ts";
import type { FailedOutcome } from "../outcome/outcome.ts";
import type { Answer } from "../plan/gate.ts";
import type { AnyInput } from "../plan/input.ts";
import type { Plan } from "../plan/plan.ts";
import type { Verdict } from "../policy/verdict.ts";
import type { ClosedInFolder, LocatedSubject, Subject } from "../rules/call-subject.ts";
import type { ReadableOutputs } from "../rules/readable-outputs.ts";
import type { ChangedFile } from "../run/file-version.ts";
import type { Delivery } from "./engine.ts";
import type { JsonSchema } from "../text/json.ts";
import type { ToolClass } from "../vocabulary/tool-class.ts";
import type { ToolStatus } from "../vocabulary/tool-status.ts";
import type { ChangeRecorder } from "./change-recorder.ts";
import type { UnawaitedHelpers, ReadDelegation, StartedNode, HelperNotice } from "./engine.ts";
import type { Scratchpad } from "./scratchpad.ts";
import type { ShellCommands } from "./shell-commands.ts";

/**
 * A tool: one kind of action that an agent may take. A tool that fails throws or returns `{ error }`; either becomes an
 * error result.
 */
export type Tool<I = unknown> = Readonly<{
  name: string;
  description: string;
  input: z.ZodType<I> | JsonSchema;
  /** What arguments of other agent programs mean here, by their names; no model is shown them. */
  aliases?: Readonly<Record<string, ArgumentAlias>>;
  /** A `read` tool changes nothing, so it may be repeated after a crash. */
  effect: "read" | "write";
  /**
   * What the tool accesses, which decides whether it needs approval. Default: `exec`, or `read` for a read-only tool.
   */
  does?: ToolClass;
  /** How a call counts in the order of the calls of its turn. Default: `spawn` for such a tool, otherwise its effect. */
  order?(input: I): CallOrder;
  /** True: the tool waits for something or shows its progress, so that an agent may repeat a call. */
  polls?: true;
  /** The subjects of a tool call (paths, command, address), against which permission rules are matched. */
  subjects?(input: I): readonly Subject[];
  timeoutMs?: number;
  /**
   * The change that a call would make to the files as they are now, as a diff for the person who is asked. `access` is
   * that of reading: without an approval.
   */
  diff?(input: I, context: Pick<ToolContext, "cwd" | "access">): Promise<string | undefined>;
  run(input: I, context: ToolContext): Promise<ToolResult> | ToolResult;
}>;

/**
 * The argument that an argument of another agent program stands for: its name, or, where unit or form differ, a
 * function that returns the arguments for a value.
 */
export type ArgumentAlias =
  | string
  | ((given: unknown, all: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>);

/** How a call counts in the order of the calls of its turn: it only reads, it changes something, or it starts agents. */
export type CallOrder = "read" | "write" | "spawn";

export type ToolResult =
  | string
  | Readonly<{
      text: string;
      /** True when the tool call did not succeed. */
      error?: boolean;
      /** A more specific status of the failure. */
      status?: ToolStatus;
      /** Images of the result, at most 20: shown to a model that takes images. `text` says what they are. */
      images?: readonly ImageContent[];
      /** The file with the full text, when `text` is only its tail. */
      file?: string;
      /** Structured result, at most 200,000 characters of JSON: recorded with the tool call, not shown to the model. */
      details?: unknown;
    }>;

/** The services and data that a tool call gets besides its arguments. */
export type ToolContext = Readonly<{
  cwd: string;
  signal: AbortSignal;
  /** The part of the user's environment that is passed on: it contains no API keys. */
  env: Readonly<Record<string, string | undefined>>;
  run: string;
  /** Path of the task that makes the call. */
  path: string;
  /** Name of the agent that makes the call. */
  agent: string;
  /** Agents that the task may start; absent: none. */
  spawns?: Spawns;
  /** Private state of the task between its tool calls. */
  desk: Scratchpad;
  /** Shows output while the tool runs; not recorded. */
  report(text: string): void;
  /** Runs other agents as subtasks of the caller; other tasks can use the caller's slot while it waits. */
  delegate(what: AnyInput | Plan): Promise<ReadDelegation>;
  /** How many characters of results one call may return, so that they fit the model's window. */
  resultChars?: number;
  /** Starts agents in the background; absent where that is not supported. */
  background?: Omit<UnawaitedHelpers, "start"> &
    Readonly<{ start(what: AnyInput | Plan, tells: HelperNotice): Promise<StartedNode | FailedOutcome> }>;
  /** The currently available agents; absent where agents cannot be searched. */
  agents?(): Promise<Catalog>;
  /** Sends a message to another task of the run; absent outside of a run. */
  send?(to: string, text: string): Promise<Delivery>;
  /** Sends a message to the parent; does not wait. */
  notify(text: string): void;
  /**
   * Asks the user; `undefined` when no person is available or the task was stopped. The answer is a yes or a no, or
   * with `wants: "words"` a text.
   */
  ask?(question: string, options?: Readonly<{ wants?: "words" }>): Promise<Answer | undefined>;
  /** The access of the call to this machine; absent where no policy applies, as in a unit test of a tool. */
  access?: CallAccess;
}>;

/** The files, addresses and commands that one tool call may access. */
export type CallAccess = Readonly<{
  /** True: a person allowed this command to use the network. */
  network?: true;
  /**
   * The subjects of this call (paths, URLs, commands) as the policy judged them: a file that is opened for writing must
   * be among them.
   */
  judged: readonly LocatedSubject[];
  /** The path by which permission rules match a file. */
  placeOf(absolute: string): string;
  /** Paths in a real folder that this call may not access: forbidden by a rule, secrets, or subcrew's own state. */
  closedIn(folder: string): ClosedInFolder;
  /** Judges a subject found during the call: a file in a folder, the next address of a redirect. */
  check(subject: LocatedSubject): Verdict;
  /** The folders that may be written besides the working folder. */
  roots: readonly string[];
  /** Output files of the run that the task may read; absent where none are stored. */
  handed?: ReadableOutputs;
  /** The state of each file when this task last read or wrote it, by real path. */
  seen: Map<string, string>;
  /** Called before the tool writes at this real path. */
  noteWrite?(real: string): Promise<void>;
  /** Stores and records the files that the call changes; absent where no runs are stored, and in a worktree. */
  changes?: Pick<ChangeRecorder, "keep" | "version"> &
    Readonly<{ record(files: readonly ChangedFile[]): Promise<void> }>;
  /** Shell commands, if the task may run any. */
  commands?(): Promise<ShellCommands>;
}>;

/** True for a tool that writes, runs commands or starts agents. */
export function changesSomething(tool: Pick<Tool, "does" | "effect">): boolean {
  return tool.effect === "write" || tool.does === "spawn";
}

/** Returns the tool unchanged; at compile time, the type of the tool's input follows from its schema. */
export function defineTool<S extends z.ZodType>(tool: Omit<Tool<z.infer<S>>, "input"> & { readonly input: S }): Tool {
  return Object.freeze(tool);
}
