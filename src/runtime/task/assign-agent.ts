import type { Agent } from "../../core/agent/agent.ts";
import { inputProblem } from "../../core/agent/inputs.ts";
import { agentNameOf, agentOf } from "../../core/delegation/roster.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import { isFinishTool, permit } from "../../core/policy/permit.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { facadeOf } from "../../core/vocabulary/delegation-names.ts";
import { combineLimits, type Limits } from "../../core/vocabulary/limits.ts";
import { ALL_TOOLS, READ_ONLY_TOOLS, toolsNamed } from "../../core/vocabulary/tool-names.ts";
import type { SchemaPrecedence, World } from "./world.ts";

/** The input of every step of an assignment. */
export type AssignRequest = Readonly<{ call: Call; world: World; emit: PerformContext["emit"] }>;

/** The agent of a task: its definition, and the agent as adapted to this task. */
export type AssignedAgent = Readonly<{
  name: string;
  definition: Agent;
  agent: Agent;
  limits: Limits;
  /** True in plan mode: the task may not change anything. */
  planMode: boolean;
}>;

/** First step of assigning a task: finds the agent and applies the options of the task and of plan mode. */
export function assignAgent({ call, world }: Pick<AssignRequest, "call" | "world">): AssignedAgent | FailedOutcome {
  const { task } = call;
  const name = agentNameOf(task, world.roster);
  const definition = agentOf(task, world.roster);
  if (!definition)
    return failed("DENIED", `Unknown agent "${name}".`, { hint: "`subcrew agents` lists the known agents." });
  const planMode = world.access?.policyFor({ name }, call.policy).level === "plan";
  const whole = effectiveAgent(definition, call, world.settings.schemaPrecedence);
  const bounded = bindDelegation(whole, world);
  const agent = planMode && call.depth > 0 ? inPlanMode(bounded) : bounded;
  const problem = inputProblem(agent.inputs ?? {}, task.inputs ?? {});
  if (problem !== undefined)
    return failed("BAD_INPUTS", `"${name}" cannot start: ${problem}.`, {
      hint: "See `subcrew agents show` for the inputs of the agent.",
    });
  return { name, definition, agent, limits: combineLimits(definition.limits, task.resourceLimits), planMode };
}

/** Applies the settings that make the parent's tools an upper bound; they apply to every agent. */
const bindDelegation = (agent: Agent, { settings }: World): Agent =>
  settings.delegation === "ceiling" ? { ...agent, delegationRule: "ceiling" } : agent;

/**
 * The agent as adapted to a task. A person's task replaces fields of the definition; a task that an agent starts can
 * only restrict them. The agent's output schema has precedence over the task's, unless `precedence` says otherwise.
 */
export function effectiveAgent(
  agent: Agent,
  { task, depth }: Pick<Call, "task" | "depth">,
  precedence: SchemaPrecedence = "agent",
): Agent {
  const { thinking, systemPrompt, schema } = task;
  // Most tasks change no field. They get the same agent object, which caches use as their key.
  if ((thinking ?? systemPrompt ?? schema ?? task.tools) === undefined) return agent;
  const own = isRecord(agent.output) ? agent.output : undefined; // an `output` that is a string or null is no schema
  const output = (precedence === "agent" ? (own ?? schema) : (schema ?? own)) ?? agent.output;
  const named = task.tools?.flatMap((tool) => (toolsNamed(tool).length > 0 ? toolsNamed(tool) : [tool]));
  const tools = named && depth > 0 ? named.filter((tool) => permit(agent, tool).allowed) : named;
  const spelled = task.tools?.filter((tool) => facadeOf(tool) !== undefined) ?? [];
  return {
    ...agent,
    ...defined({ tools }),
    ...(spelled.length > 0 && { delegation: spelled }),
    ...defined({ thinking, instructions: systemPrompt, output }),
  };
}

/** The agent as a subagent in plan mode: it has read-only tools and starts no other agent. */
export function inPlanMode({ tools, ...agent }: Agent): Agent {
  const readOnly = tools === undefined || tools.includes(ALL_TOOLS) ? READ_ONLY_TOOLS : tools.filter(isReadOnly);
  return { ...agent, tools: readOnly, spawns: [] };
}

const isReadOnly = (tool: string): boolean => READ_ONLY_TOOLS.includes(tool) || isFinishTool(tool);
