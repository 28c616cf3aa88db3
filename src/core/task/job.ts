import type { Agent } from "../agent/agent.ts";
import type { Catalog } from "../delegation/catalog.ts";
import type { HoldRules } from "../model/hold.ts";
import type { Permissions } from "../policy/permissions.ts";
import { permit } from "../policy/permit.ts";
import type { ParkRules, RecordedSettings } from "../run/event.ts";
import { defined } from "../text/defined.ts";
import type { TaskRunner } from "../vocabulary/runner-name.ts";
import type { Call, PerformContext } from "./engine.ts";
import type { Assignment } from "./runner.ts";

/** The workspace of a task, identified by names that are valid on every machine that has the workspace. */
export type JobWorkspace = Readonly<{
  /** The real path of the folder on the machine that started the run. */
  id: string;
  /** The machine that started the run: on another machine the same path may be another folder. */
  host?: string;
  /**
   * Names that every clone of the folder's repository has. A worker with a clone fetches commit and changes from the
   * run.
   */
  repositories?: readonly string[];
  /**
   * True: the task needs a copy of the workspace with the changes of its parent task, which the folder itself does not
   * contain.
   */
  isCopied?: true;
}>;

/**
 * The capabilities that a machine must have to execute a task: runner, models, tools, servers, by name. Keys and
 * programs stay on that machine.
 */
export type JobNeeds = Readonly<{
  runner: TaskRunner;
  /** The names of models in order of preference, as in `provider/model`; one of them is enough. Absent: any model. */
  models?: readonly string[];
  /** True: if no provider is available, the offline model may answer. */
  offline?: true;
  /** The tools that the task may use. */
  tools: readonly string[];
  /** The MCP servers that the task uses. */
  servers?: readonly string[];
  /** True: commands must run in a sandbox. */
  sandbox?: true;
}>;

/**
 * A task with its agent, as JSON: everything that a machine needs to execute it, if the machine has the workspace and
 * meets `needs`. It never contains an environment, a key or a home folder of the process that coordinates the run: each
 * machine adds its own.
 */
export type Job = Readonly<{
  workspace: JobWorkspace;
  needs: JobNeeds;
  call: Call;
  /**
   * The agent's definition, as the process that coordinates the run found it; the worker does not search for agents.
   */
  agent: Agent;
  /** The agents that the task may start. */
  catalog?: Catalog;
  attended: boolean;
  /** True: no other task of the run is running, so the worker waits a moment for the run's next task. */
  isAlone?: true;
  /** Whether the task parks (waits) instead of failing when it reaches a limit or its provider refuses requests. */
  parks?: ParkRules;
  /** True: prices have to be known before the first model request, because a budget limits the cost. */
  prices: boolean;
  /** How the run treats API keys that providers refuse. */
  holds?: HoldRules;
  /** The providers that a resumed run recorded. Each is used at its recorded address, or not at all. */
  providers?: RecordedSettings["providers"];
  /** The recorded permissions of a resumed run: an upper bound of the worker's permissions. */
  permissions?: Permissions;
  /** False: the task's agent does not get the project's instructions. */
  projectInstructions?: false;
  /** True: the run reuses results of earlier tasks with the same input. */
  reuse?: true;
  /** Whether the run records its model and tool calls in a file, or replays such a recording. */
  tape?: "records" | "replays";
}>;

/** The properties that all jobs of a run share. */
export type JobSettings = Pick<
  Job,
  "workspace" | "prices" | "holds" | "providers" | "permissions" | "projectInstructions" | "reuse" | "tape"
>;

/** Creates the job of a task: its request together with its agent and what it needs. */
export function jobOf(
  assignment: Assignment,
  { attended, parks }: Pick<PerformContext, "attended" | "parks">,
  settings: JobSettings,
): Job {
  const { call, agent, catalog } = assignment;
  const rules = parks && { onLimit: parks.onLimit, onProviderFault: parks.onProviderFault };
  return {
    ...settings,
    needs: needsOf(assignment, settings),
    call,
    agent,
    attended,
    ...defined({ catalog, parks: rules }),
  };
}

function needsOf({ runner, model, tools, rights }: Assignment, { permissions }: JobSettings): JobNeeds {
  return {
    runner,
    models: [model.ref],
    tools: [...tools.keys()].filter((name) => permit(rights, name).allowed),
    ...(permissions?.sandbox === "required" && { sandbox: true }),
  };
}
