import type { Agent } from "../../core/agent/agent.ts";
import { agentOf, type Roster } from "../../core/delegation/roster.ts";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Task } from "../../core/plan/task.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { Job, JobNeeds, JobSettings } from "../../core/task/job.ts";
import { defined } from "../../core/text/defined.ts";
import type { TaskRunner } from "../../core/vocabulary/runner-name.ts";
import { withoutAuth } from "../../runtime/resume/recorded-agent.ts";

/** The data for converting tasks to jobs for workers. */
export type WorkerJobParts = Readonly<{
  settings: JobSettings;
  roster: Roster;
  /** The agent definition that the run recorded for a task, or carries. */
  recorded(call: Call): Agent | undefined;
  /**
   * Names of tools that are not built in, and of MCP servers. A worker must have the tools and servers that an agent
   * uses.
   */
  ownTools: ReadonlySet<string>;
  servers: readonly string[];
  /** The default model of tasks, or several in order of preference. */
  model?: string | readonly string[];
  /** True: no provider can be used on the coordinating machine, either, so the offline model may answer. */
  offline: boolean;
  sandbox: boolean;
  /**
   * True: all answers of models and tools come from a recording, so no key, MCP server or other agent program is
   * needed.
   */
  isReplayed: boolean;
}>;

/** Converts a task to a job for a worker: with the agent as this process found it, and without secrets. */
export function jobsForWorkers(parts: WorkerJobParts): (call: Call, context: PerformContext) => Promise<Job | Outcome> {
  return async (call, { attended, parks }) => {
    const agent = parts.recorded(call) ?? agentOf(call.task, parts.roster);
    if (!agent) return failed("BAD_INPUTS", `Unknown agent "${call.task.agent ?? ""}".`);
    const { workspace } = parts.settings;
    const rules = parks && { onLimit: parks.onLimit, onProviderFault: parks.onProviderFault };
    return {
      ...parts.settings,
      workspace: { ...workspace, ...(call.filesOf !== undefined && !call.worktree && { isCopied: true as const }) },
      needs: needsFor(call, agent, parts),
      call,
      agent: withNamedServers(withoutAuth(agent)),
      attended,
      ...defined({ catalog: parts.roster.catalog?.(), parks: rules }),
    };
  };
}

/**
 * The agent without the commands, addresses and keys of the MCP servers that it defines: a worker starts only servers
 * from its own settings, by name. Otherwise a manipulated row of the database could start any program on a worker,
 * regardless of the worker's settings.
 */
export function withNamedServers(agent: Agent): Agent {
  const { mcpServers } = agent;
  if (mcpServers === undefined) return agent;
  return { ...agent, mcpServers: Object.fromEntries(Object.keys(mcpServers).map((name) => [name, true])) };
}

/**
 * The MCP servers that a worker needs: servers whose tools the agent names, and servers that the agent defines and can
 * use.
 */
function serversFor({ tools, mcpServers = {} }: Agent, users: readonly string[]): readonly string[] {
  const defined = Object.entries(mcpServers).flatMap(([name, server]) => (server === true ? [] : [name]));
  return [...new Set([...users, ...defined])].filter((server) =>
    tools === undefined
      ? defined.includes(server)
      : tools.some((name) => name.startsWith(`${server}__`) || (name === "*" && defined.includes(server))),
  );
}

/** The runner that a task on a worker has, unless limits move the task to a process. */
export function runnerFor(task: Task, agent: Agent): TaskRunner {
  return agent.remote ? "a2a" : (task.runner ?? agent.runner ?? "local");
}

function needsFor({ task, parentModel }: Call, agent: Agent, parts: WorkerJobParts): JobNeeds {
  if (parts.isReplayed)
    return { runner: "local", tools: [...parts.ownTools].filter((name) => agent.tools?.includes(name)), offline: true };
  const wished = [task.model ?? agent.model ?? parts.model ?? []].flat();
  const models = wished.flatMap((name) =>
    name === "inherit" ? (parentModel === undefined ? [] : [parentModel]) : name === "auto" ? [] : [name],
  );
  const named = new Set(agent.tools ?? []);
  return {
    runner: runnerFor(task, agent),
    tools: [...parts.ownTools].filter((name) => named.has(name)),
    servers: serversFor(agent, parts.servers),
    ...(models.length > 0 && { models }),
    ...(parts.offline && { offline: true }),
    ...(parts.sandbox && { sandbox: true }),
  };
}
