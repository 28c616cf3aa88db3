import type { Caller } from "../core/delegation/spawn.ts";
import type { Tool } from "../core/task/tool.ts";
import { type FacadeName, facadeOf } from "../core/vocabulary/delegation-names.ts";
import { agentTools } from "./agent-tools.ts";
import { delegateToAgent } from "./delegate-to-agent.ts";
import type { Facade, FacadeParts } from "./facade.ts";
import { invokeAgent } from "./invoke-agent.ts";
import { parallelFacade } from "./parallel.ts";
import { spawnSubagent } from "./spawn-subagent.ts";
import { subagentTask } from "./subagent-task.ts";
import { taskFacade } from "./task.ts";

/** Every set of delegation tools; a new set is one file and one row. */
const facades: Readonly<Record<FacadeName, Facade>> = {
  task: taskFacade,
  Task: subagentTask,
  spawn_subagent: spawnSubagent,
  parallel: parallelFacade,
  delegate_to_agent: delegateToAgent,
  invoke_agent: invokeAgent,
  agents: agentTools,
};

/** The delegation tools of one caller, under the names that the caller uses. */
export function delegationTools(spellings: readonly string[], caller: Caller, parts: FacadeParts): readonly Tool[] {
  const tools = new Map<string, Tool>();
  for (const spelling of spellings) {
    const name = spelling === "agents" ? spelling : (facadeOf(spelling) ?? "task");
    for (const tool of facades[name].tools(caller, spelling, parts)) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}
