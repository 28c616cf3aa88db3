import type { Policy } from "../policy/policy.ts";
import type { ClosedInFolder, LocatedSubject, Subject } from "../rules/call-subject.ts";
import type { ReadableOutputs } from "../rules/readable-outputs.ts";
import type { Rule } from "../rules/rule.ts";
import type { ChangeRecorder } from "./change-recorder.ts";
import type { SandboxFacts } from "./environment.ts";
import type { ShellCommands } from "./shell-commands.ts";

/** The policy of one task, and its access to this machine. */
export type TaskAccess = Readonly<{
  /** The permission policy, including approvals for the rest of the run. */
  policy(): Policy;
  /** Adds an approval for the rest of the run, or permanently. */
  agree(rules: readonly Rule[], scope?: "run" | "session" | "project" | "user"): Promise<void>;
  /** Resolves the subjects of a tool call; throws a refusal for paths outside of the accessible folders. */
  locate(subject: Subject): Promise<LocatedSubject>;
  /** The path by which permission rules match the file at this real path. */
  placeOf(absolute: string): string;
  /**
   * Paths in a real folder that a call of a tool may not access: forbidden by a rule, secrets, subcrew's own state, and
   * files that need an approval of their own. `judged`: the files and folders that the call names.
   */
  closedIn(tool: string, folder: string, judged: readonly LocatedSubject[]): ClosedInFolder;
  /** Existing forbidden paths at or below these real folders. */
  closedBelow(folders: readonly string[]): readonly string[];
  /** The folders that may be written besides the working folder. */
  roots: readonly string[];
  /** Output files of the run that the task may read; absent where none are stored. */
  handed?: ReadableOutputs;
  /** Registers files that the task may read because it was told about them. */
  allowReading(files: readonly string[]): void;
  /**
   * Whether the task's commands need a sandbox, and whether the task may run in another agent program that cannot
   * enforce all restrictions.
   */
  demands: Readonly<{ sandbox: "required" | "auto" | "off"; weaker: boolean }>;
  /**
   * Does work while no other task of this machine changes these files with its tools. A file is named as permission
   * rules name it.
   */
  exclusively<T>(places: readonly string[], work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** The state of each file when the task last read or wrote it, to notice changes by other tasks and programs. */
  seen: Map<string, string>;
  /** Called before a tool writes at this real path, so that the file is not quarantined as created by a command. */
  noteWrite(real: string): Promise<void>;
  /** Stores the files that the task changes; absent where no runs are stored, and in a worktree. */
  changes?: ChangeRecorder;
  /** The sandbox of the task's commands, which is tested on first use; `undefined`: the task may run none. */
  sandbox?(): Promise<SandboxFacts>;
  /** The task's shell commands; the sandbox is tested on first use. */
  commands?(): Promise<ShellCommands>;
  /** Stops all commands that the task still runs. */
  end(): Promise<void>;
}>;
