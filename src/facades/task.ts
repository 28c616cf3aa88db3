import { z } from "zod";
import { type AgentCard, withWhySkipped } from "../core/delegation/catalog.ts";
import { allowedText, type Caller, defaultAgent, offered, spawnRefusal } from "../core/delegation/spawn.ts";
import { defineTool, type Tool, type ToolResult } from "../core/task/tool.ts";
import { defined } from "../core/text/defined.ts";
import { asId } from "../modes/names.ts";
import { describeAgents } from "./agent-lines.ts";
import { excerptOf, shareOf } from "../core/outcome/excerpt.ts";
import { type DelegationEnd, delegatePlan, type FacadeTask, planFor } from "./carry-out.ts";
import { delegating, type Facade } from "./facade.ts";
import { type AgentLookup, createAgentLookup } from "./look.ts";
import { agentNameSchema } from "./names-in-schema.ts";

/** Maximum length of a task's name. */
export const TASK_ID_CHARS = 32;

const item = z.strictObject({
  id: z.string().max(TASK_ID_CHARS).default("").describe("a short unique id"),
  description: z.string().optional().describe("a short label shown to people"),
  assignment: z.string().min(1).describe("the complete assignment: the agent knows nothing else"),
  agent: z.string().optional().describe("the agent of this task, if it differs from the agent of the call"),
  fork: z
    .boolean()
    .optional()
    .describe("start with this conversation instead of an empty one, for work that needs its content"),
});

/**
 * The tool `task` of the program oh-my-pi: one agent, a context that all of its tasks share, and a batch of parallel
 * tasks.
 */
export const taskFacade: Facade = {
  tools: (caller, name) => [taskTool(caller, name)],
};

function taskTool(caller: Caller, name: string): Tool {
  const look = createAgentLookup(caller);
  const cards = offered(caller.catalog, caller);
  const usual = defaultAgent(caller);
  const input = z.strictObject({
    agent: z
      .string()
      .default(usual)
      .describe(`the agent that does the tasks; ${usual} by default`)
      .meta(agentNameSchema(cards)),
    context: z.string().optional().describe("context for all tasks, placed before each assignment"),
    schema: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("the JSON Schema of each result, for agents without an output schema"),
    tasks: z.array(item).describe("the tasks; they run in parallel"),
  });
  return defineTool({
    name,
    description: describeAgents(cards, {
      before: BEFORE,
      after: AFTER,
    }),
    input,
    ...delegating,
    async run(given, context) {
      const looked = await look(context);
      const problem = preflight(given, caller, looked);
      if (problem !== undefined) return { text: problem + looked.news, error: true };
      const ended = await delegatePlan(planFor(assignmentsOf(given, caller, looked.now.agents)), context);
      return answer(ended, { news: looked.news, chars: context.resultChars });
    },
  });
}

const BEFORE = `Starts agents that work on their own and returns their results. Each sees only what you write, not this conversation, unless you fork it.
Give one agent several tasks to run them in parallel; call again for another agent. Agents:`;
const AFTER = `[read-only] agents cannot change anything. Do not delegate what a single tool call can do. An agent whose result has a
fixed structure keeps it: do not ask for another format. A result too long to show comes as its beginning and end, with the file that has all of it.`;

type Given = Readonly<{
  agent: string;
  context?: string | undefined;
  schema?: Record<string, unknown> | undefined;
  tasks: readonly z.infer<typeof item>[];
}>;

/** Checks a call before anything starts: if one task is invalid, no task starts. */
function preflight({ agent, tasks }: Given, caller: Caller, { now }: AgentLookup): string | undefined {
  const names = [
    ...new Set(tasks.every((one) => one.agent !== undefined) ? [] : [agent]),
    ...new Set(tasks.flatMap((one) => one.agent ?? [])),
  ];
  const refusals = (names.length === 0 ? [agent] : names).map((name) => ({
    name,
    why: spawnRefusal(name, caller, now),
  }));
  const missing = refusals.find(({ why }) => why === "unknown" || why === "disabled");
  if (missing) return withWhySkipped(refusalText(missing.name, missing.why!, caller, now.agents), now, missing.name);
  const bad = tasks.length === 0 ? "No tasks given: name at least one." : idProblem(tasks.map(({ id }) => id));
  if (bad !== undefined) return bad;
  const refused = refusals.find(({ why }) => why !== undefined);
  return refused && refusalText(refused.name, refused.why!, caller, now.agents);
}

/** A refusal in the words of oh-my-pi. */
export function refusalText(
  name: string,
  why: NonNullable<ReturnType<typeof spawnRefusal>>,
  caller: Caller,
  agents: readonly AgentCard[],
): string {
  const available =
    agents
      .filter(({ hidden }) => !hidden)
      .map((card) => card.name)
      .join(", ") || "none";
  const texts: Readonly<Record<typeof why, () => string>> = {
    unknown: () => `Unknown agent "${name}". Available: ${available}`,
    disabled: () =>
      `Agent "${name}" is disabled in settings. Enable it via /agents, or use a different agent type. Available: ${available}`,
    blocked: () => `Cannot spawn ${name} agent from within itself (recursion prevention). Use a different agent type.`,
    spawns: () => `Cannot spawn '${name}'. Allowed: ${allowedText(caller.spawns)}`,
    depth: () => `Cannot spawn '${name}': the maximum delegation depth of ${caller.maxDepth} is reached.`,
  };
  return texts[why]();
}

/** Checks the task names of a batch; returns the problem, if any. */
export function idProblem(ids: readonly string[]): string | undefined {
  const missing = ids.flatMap((id, at) => (id.trim() === "" ? [at] : []));
  const places = new Map<string, { id: string; at: number[] }>();
  for (const [at, id] of ids.entries()) {
    if (id.trim() === "") continue;
    const key = asId(id.trim()).toLowerCase();
    const known = places.get(key);
    if (known) known.at.push(at);
    else places.set(key, { id, at: [at] });
  }
  const twice = [...places.values()]
    .filter(({ at }) => at.length > 1)
    .map(({ id, at }) => `${id} (indexes ${at.join(", ")})`);
  const problems = [
    missing.length > 0 ? `Missing task ids at indexes: ${missing.join(", ")}` : "",
    twice.length > 0 ? `Duplicate task ids detected (case-insensitive): ${twice.join("; ")}` : "",
  ].filter((text) => text !== "");
  return problems.length === 0 ? undefined : `Invalid tasks: ${problems.join(". ")}`;
}

/** The prompt of one task: the shared context, and the task's own part. */
export function batchPrompt(context: string | undefined, assignment: string): string {
  const shared = context?.trim() ?? "";
  return shared === "" ? assignment : `${shared}\n\n${assignment}`;
}

/** The tasks of a call. Their output schema is the schema of the agent, else of the call, else of the caller. */
function assignmentsOf(
  { agent, context, schema, tasks }: Given,
  caller: Caller,
  agents: readonly AgentCard[],
): FacadeTask[] {
  return tasks.map(({ id, description, assignment, agent: other, fork }) => {
    const who = other ?? agent;
    const structured = agents.find(({ name }) => name === who)?.structured === true;
    const wanted = schema ?? (structured ? undefined : caller.schema);
    return {
      id: asId(id.trim()),
      agent: who,
      prompt: batchPrompt(context, assignment),
      label: description ?? id,
      ...defined({ schema: wanted, fork }),
    };
  });
}

function answer(
  { outcome, done }: DelegationEnd,
  { news, chars }: Readonly<{ news: string; chars: number | undefined }>,
): ToolResult {
  if (done.length === 0) return { text: excerptOf(outcome) + news, error: true };
  const good = done.filter((one) => one.outcome.status === "ok").length;
  const parts = done.map(
    ({ id, outcome: one, task: name }) =>
      `## ${id}: ${one.status} (${name})\n\n${excerptOf(one, shareOf(chars, done.length))}`,
  );
  return {
    text: `${good}/${done.length} tasks succeeded.\n\n${parts.join("\n\n")}${news}`,
    error: good === 0,
    details: {
      results: done.map(({ id, outcome: one, task: name }) => ({ id, task: name, status: one.status, file: one.file })),
    },
  };
}
