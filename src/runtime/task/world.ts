import type { DelegationRule } from "../../core/agent/agent.ts";
import type { Roster } from "../../core/delegation/roster.ts";
import type { Caller } from "../../core/delegation/spawn.ts";
import type { Redactor } from "../../core/secrets/redact.ts";
import type { PeerTools } from "../../core/task/mcp-tools.ts";
import type { Acceptance, Diagnostics, ModelSource, Runner } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import type { RunAccess } from "../access/access.ts";
import type { Isolate } from "../git/worktree-task.ts";
import type { PreviousRuns } from "../resume/previous-runs.ts";
import type { Reuse } from "../resume/reuse-results.ts";
import type { Validator } from "./validate.ts";

/** Whose output schema is asked first: the agent's own, or that of the call. */
export type SchemaPrecedence = "agent" | "call";

/** The settings of a crew that its tasks read; the crew hands its own over, whole. */
export type TaskWorldSettings = Readonly<{
  /** The workspace. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Variables that tasks and their programs may see besides PATH, HOME and the like. */
  passEnv?: readonly string[];
  /** Whose output schema counts when both an agent and a call have one: the agent's by default. */
  schemaPrecedence?: SchemaPrecedence;
  /** Which tools a helper has: those of its own definition (`own`, the default), or no more than its parent (`ceiling`). */
  delegation?: DelegationRule;
  /** Whether an agent that starts another may choose its model; true by default. */
  callersMayChoose?: boolean;
  /** A checker of the project, and the agents that read its report after changing files: `code` by default. */
  diagnostics?: Diagnostics & Readonly<{ agents?: readonly string[] }>;
}>;

/** Everything that carrying out a task may touch, made once by the crew and handed down. */
export type World = Readonly<{
  roster: Roster;
  tools: ReadonlyMap<string, Tool>;
  /** Makes the delegation tools of a task, as its agent spells them; absent: nobody delegates here. */
  delegation?(spellings: readonly string[], caller: Caller): Promise<readonly Tool[]>;
  /** Tools of programs and machines outside, as far as an agent may use them; absent: there are none. */
  peers?: PeerTools;
  models: ModelSource;
  runner: Runner;
  validator: Validator;
  settings: TaskWorldSettings;
  /** What may be done on this machine, and who agreed to it; absent: only what a careful policy allows, and no commands. */
  access?: RunAccess;
  /** Stands before the acceptance command of a task, as a recording does; absent: it is carried out. */
  acceptance?(real: Acceptance): Acceptance;
  /** What was before; absent where nothing is recorded, and in a task that is carried out elsewhere. */
  earlier?: PreviousRuns;
  /** Results of earlier runs; absent where none are kept, and in a task that is carried out elsewhere. */
  reuse?: Reuse;
  /** Worktrees for tasks; absent where nothing is run, and in a task that is carried out elsewhere. */
  isolate?: Isolate;
  /** Takes secrets out of whatever leaves the program. */
  redactor: Redactor;
  clock(): number;
  /** Keeps the full output of a node; `undefined`: nowhere to keep it. */
  keep(run: string, path: string, text: string): Promise<string | undefined>;
}>;
