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

/** The files that a task works on, under a name that is valid on every machine that has them. */
export type JobWorkspace = Readonly<{
  /** The real path of the folder on the machine of the run. */
  id: string;
  /** The machine of the run: elsewhere the same path may be another folder. */
  host?: string;
  /** Names that every clone of its repository has. A place with a clone fetches commit and changes from the run. */
  repositories?: readonly string[];
  /**
   * The task needs a copy of the workspace with the changes of its parent task, which the folder itself does not
   * contain.
   */
  isCopied?: true;
}>;

/** The names of what a machine needs to run a task: runner, providers, servers. Keys and programs stay on that machine. */
export type JobNeeds = Readonly<{
  runner: TaskRunner;
  /** The names of models in order of preference, as in `provider/model`; one of them is enough. Absent: any model. */
  models?: readonly string[];
  /** Without any provider the offline model may answer. */
  offline?: true;
  /** The tools that the task may use. */
  tools: readonly string[];
  /** MCP servers. */
  servers?: readonly string[];
  /** Commands must run in a sandbox. */
  sandbox?: true;
}>;

/**
 * One call with its agent, as JSON: enough to carry it out on any machine that has its workspace and its needs. It
 * never contains an environment, a key or a home folder of the coordinator: each machine adds its own.
 */
export type Job = Readonly<{
  workspace: JobWorkspace;
  needs: JobNeeds;
  call: Call;
  /** The agent as the coordinator resolved it; the worker does not search for agents. */
  agent: Agent;
  /** The agents it may want to start. */
  catalog?: Catalog;
  attended: boolean;
  /** The run has no other task under way, so the worker waits a moment for the next one. */
  isAlone?: true;
  /** Whether the task parks instead of failing. */
  parks?: ParkRules;
  /** Prices have to be known before the first call. */
  prices: boolean;
  /** How its run treats keys that providers refuse. */
  holds?: HoldRules;
  /** The providers of a resumed run as it recorded them: each is used at its recorded address, or not at all. */
  providers?: RecordedSettings["providers"];
  /** The recorded permissions of a resumed run: an upper bound of the worker's permissions. */
  permissions?: Permissions;
  /** False: its agent does not get the project's instructions. */
  projectInstructions?: false;
  /** The run uses results of earlier tasks with the same input. */
  reuse?: true;
  /** The run records the traffic with models and tools, or replays such a recording. */
  tape?: "records" | "replays";
}>;

/** The properties that all jobs of a run share. */
export type JobSettings = Pick<
  Job,
  "workspace" | "prices" | "holds" | "providers" | "permissions" | "projectInstructions" | "reuse" | "tape"
>;

/** The job of a task, from its assignment. */
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
