import type { z } from "zod";
import type { Catalog } from "../delegation/catalog.ts";
import type { Spawns } from "../delegation/spawn.ts";
import type { FailedOutcome } from "../outcome/outcome.ts";
import type { Answer } from "../plan/gate.ts";
import type { AnyInput } from "../plan/input.ts";
import type { Plan } from "../plan/plan.ts";
import type { Verdict } from "../policy/verdict.ts";
import type { ClosedInFolder, LocatedSubject, Subject } from "../rules/call-subject.ts";
import type { ReadableOutputs } from "../rules/readable-outputs.ts";
import type { Receipt } from "../run/run-command.ts";
import type { JsonSchema } from "../text/json.ts";
import type { ToolClass } from "../vocabulary/tool-class.ts";
import type { ToolStatus } from "../vocabulary/tool-status.ts";
import type { UnawaitedHelpers, DelegationOutcome, StartedNode, HelperNotice } from "./engine.ts";
import type { Scratchpad } from "./scratchpad.ts";
import type { ShellCommands } from "./shell-commands.ts";

/** What an agent may do. A tool that fails throws or returns `{ error }`; either becomes an error result. */
export type Tool<I = unknown> = Readonly<{
  name: string;
  description: string;
  input: z.ZodType<I> | JsonSchema;
  /** A `read` tool changes nothing, so it may be repeated after a crash. */
  effect: "read" | "write";
  /** What it touches, and so who has to agree. A tool that does not say counts as a program unless it only reads. */
  does?: ToolClass;
  /** What a call is about: the paths, command or address that rules are compared with. */
  subjects?(input: I): readonly Subject[];
  timeoutMs?: number;
  run(input: I, context: ToolContext): Promise<ToolResult> | ToolResult;
}>;

export type ToolResult =
  | string
  | Readonly<{
      text: string;
      /** Set when the call did not succeed. */
      error?: boolean;
      /** How it ended, when more is known than that. */
      status?: ToolStatus;
      /** Where all of it is, when the text is only the end of something longer. */
      file?: string;
      /** What came of it as JSON, 200,000 characters at most: recorded with the call, and not shown to the model. */
      details?: unknown;
    }>;

/** What a tool is handed: where it works, when to stop, and whom it may ask. */
export type ToolContext = Readonly<{
  cwd: string;
  signal: AbortSignal;
  /** The part of the user's environment that is passed on: no key is in it. */
  env: Readonly<Record<string, string | undefined>>;
  run: string;
  /** The path of the node that calls. */
  path: string;
  /** The name of the agent that calls. */
  agent: string;
  /** Whom the task may start; absent: nobody. */
  spawns?: Spawns;
  /** What the task keeps for itself between its calls. */
  desk: Scratchpad;
  /** Shows output while the tool runs; not recorded. */
  report(text: string): void;
  /** Runs other agents under the caller's path; the caller's slot is free while it waits. */
  delegate(what: AnyInput | Plan): Promise<DelegationOutcome>;
  /** Starts agents and does not wait for them; absent where nothing goes on by itself. */
  background?: Omit<UnawaitedHelpers, "start"> &
    Readonly<{ start(what: AnyInput | Plan, tells: HelperNotice): Promise<StartedNode | FailedOutcome> }>;
  /** The agents there are right now; absent where nobody can look. */
  agents?(): Promise<Catalog>;
  /** Says something to another task of the run; absent where there is no run. */
  send?(to: string, text: string): Promise<Receipt>;
  /** Tells whoever started the task, who reads it when it can; the task goes on. */
  notify(text: string): void;
  /** Asks the person; `undefined` when nobody is there or the task was stopped. */
  ask?(question: string): Promise<Answer | undefined>;
  /** What it may touch on this machine; absent where nobody judges, as in a test of one tool. */
  access?: CallAccess;
}>;

/** What a call may touch, and what is known about it. */
export type CallAccess = Readonly<{
  /** The subjects of this call as they were judged: what is opened for a change has to be one of them. */
  judged: readonly LocatedSubject[];
  /** Where a path is, in the words of rules. */
  placeOf(absolute: string): string;
  /** What is closed to this call in a real folder: by a rule, as a place of secrets, as state of the crew. */
  closedIn(folder: string): ClosedInFolder;
  /** Judges what a tool comes upon while it works: a file behind a folder, the next address of a redirect. */
  check(subject: LocatedSubject): Verdict;
  /** The folders that may be written besides the working folder. */
  roots: readonly string[];
  /** Outputs of its run that the task was told of; absent where none are kept. */
  handed?: ReadableOutputs;
  /** How files looked when this task last read or wrote them, by their real path. */
  seen: Map<string, string>;
  /** Called before something is written at this real path. */
  noteWrite?(real: string): Promise<void>;
  /** Commands on this machine, where the task may run any. */
  commands?(): Promise<ShellCommands>;
}>;

/** Identity at run time; ties the input's type to its schema at compile time. */
export function defineTool<S extends z.ZodType>(tool: Omit<Tool<z.infer<S>>, "input"> & { readonly input: S }): Tool {
  return Object.freeze(tool);
}
