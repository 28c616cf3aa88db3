import type { ToolNameStyle } from "../../core/vocabulary/tool-name-styles.ts";
import type { SummaryCut } from "../../core/text/cut.ts";
import type { Agent, DelegationRule } from "../../core/agent/agent.ts";
import type { FacadeName } from "../../core/vocabulary/delegation-names.ts";
import type { Roster } from "../../core/delegation/roster.ts";
import type { Caller } from "../../core/delegation/spawn.ts";
import type { Artifact } from "../../core/outcome/artifact.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
import type { Redactor } from "../../core/secrets/redact.ts";
import type { PeerTools } from "../../core/task/mcp-tools.ts";
import type { Acceptance, Diagnostics, ModelSource, Runner } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import type { RunAccess } from "../access/access.ts";
import type { Isolate } from "../git/worktree-task.ts";
import type { PreviousRuns } from "../resume/previous-runs.ts";
import type { Reuse } from "../resume/reuse-results.ts";
import type { Validator } from "./compile-schema.ts";

/** The output schema that takes precedence: the agent's, or the task's. */
export type SchemaPrecedence = "agent" | "call";

/** The settings of a crew that its tasks read. Each run has an object of its own, which never changes. */
export type TaskWorldSettings = Readonly<{
  /** The workspace folder. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Environment variables that tasks and their programs may see besides PATH, HOME and the like. */
  passEnv?: readonly string[];
  /** Which output schema is used when the agent and the task both have an output schema: the agent's by default. */
  schemaPrecedence?: SchemaPrecedence;
  /**
   * Which tools a subagent has: all tools of its own definition (`own`, the default), or of these only the tools that
   * its parent has, too (`ceiling`).
   */
  delegation?: DelegationRule;
  /** Whether an agent that starts another may choose its model; true by default. */
  callersMayChoose?: boolean;
  /** How much of tool results and task outputs is stored and shown. */
  output?: Readonly<{
    summaryChars?: number;
    summaryCut?: SummaryCut;
    maxBytes?: number;
    maxLines?: number;
    box?: boolean;
  }>;
  /** Which tool names models see; subcrew's own by default. */
  toolNames?: ToolNameStyle;
  /** The delegation tools of agents whose files do not name a delegation tool; `task` by default. */
  delegationTools?: readonly FacadeName[];
  /** False: no agent gets the project's instructions. */
  projectInstructions?: boolean;
  /**
   * The command that checks the project, such as a linter, and the agents that get its report after they changed files;
   * `code` by default.
   */
  diagnostics?: Diagnostics & Readonly<{ agents?: readonly string[] }>;
}>;

/** The project's instructions for an agent, and notes about them for the user. */
export type TaskInstructions = Readonly<{ text: string; notes: readonly string[] }>;

/** Stores the outputs of tasks, without secrets. */
export type TaskOutputs = Readonly<{
  /** The artifact of an output that is about to be recorded. */
  recorded(run: string, path: string, text: string): Promise<Artifact>;
  /** Stores a text that no record contains, as a file of this machine; `undefined`: the store creates no files. */
  keep(run: string, path: string, text: string): Promise<string | undefined>;
  /** A file of this machine with the full output of a task, created so that another task can read it. */
  file(run: string, path: string, outcome: Outcome): Promise<string | undefined>;
}>;

/** Everything that executing the tasks of a run needs, created once by the crew. */
export type World = Readonly<{
  roster: Roster;
  tools: ReadonlyMap<string, Tool>;
  /** Creates the delegation tools of a task; absent: delegation is not available. */
  delegation?(spellings: readonly string[], caller: Caller): Promise<readonly Tool[]>;
  /** MCP tools; absent: there are none. */
  peers?: PeerTools;
  models: ModelSource;
  runner: Runner;
  validator: Validator;
  settings: TaskWorldSettings;
  /** Access to this machine; absent: a strict policy without commands. */
  access?: RunAccess;
  /** Replaces the command that accepts results, as a replay does; absent: the command runs. */
  acceptance?(real: Acceptance): Acceptance;
  /** The records of earlier runs; absent where nothing is recorded, and in child processes. */
  earlier?: PreviousRuns;
  /** Reusable results; absent where none are stored, and in child processes. */
  reuse?: Reuse;
  /** Worktrees of tasks; absent where no tasks are executed, and in child processes. */
  isolate?: Isolate;
  /** The project's instructions for an agent in a folder; absent where no agent runs. */
  instructions?(agent: Agent, folder: string): TaskInstructions;
  /** Removes secrets from all output. */
  redactor: Redactor;
  clock(): number;
  /** Makes the run wait for some work before it ends. */
  linger?(work: Promise<unknown>): void;
  outputs: TaskOutputs;
}>;
