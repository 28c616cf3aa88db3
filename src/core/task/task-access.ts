import type { Policy } from "../policy/policy.ts";
import type { ClosedInFolder, LocatedSubject, Subject } from "../rules/call-subject.ts";
import type { ReadableOutputs } from "../rules/readable-outputs.ts";
import type { Rule } from "../rules/rule.ts";
import type { ShellCommands } from "./shell-commands.ts";

/** What the calls of one task are judged by, and what they may touch on this machine. */
export type TaskAccess = Readonly<{
  /** With what was agreed to for the rest of the run. */
  policy(): Policy;
  /** For the rest of the run, or for longer. */
  agree(rules: readonly Rule[], scope?: "run" | "project" | "user"): Promise<void>;
  /** Looks up what a call is about; throws a refusal for what lies outside. */
  locate(subject: Subject): Promise<LocatedSubject>;
  /** What rules call the file at this real path. */
  placeOf(absolute: string): string;
  /** What is closed to a tool in a real folder: by a rule, as a place of secrets, as state of the crew. */
  closedIn(tool: string, folder: string): ClosedInFolder;
  /** The closed places that exist at or below these real folders. */
  closedBelow(folders: readonly string[]): readonly string[];
  /** The folders that may be written besides the working folder. */
  roots: readonly string[];
  /** Outputs of its run that it may read; absent where none are kept. */
  handed?: ReadableOutputs;
  /** Called with the files that the task is told of. */
  allowReading(files: readonly string[]): void;
  /** Whether its commands have to be isolated, and whether another tool may do it that keeps less than this. */
  demands: Readonly<{ sandbox: "required" | "auto" | "off"; weaker: boolean }>;
  /** How files looked when the task last read or wrote them. */
  seen: Map<string, string>;
  /** Called before a tool writes at this real path, so that it is not taken for the work of a command. */
  noteWrite(real: string): Promise<void>;
  /** Its commands; what isolates them is found out the first time. */
  commands?(): Promise<ShellCommands>;
  /** Ends whatever the task still has running. */
  end(): Promise<void>;
}>;
