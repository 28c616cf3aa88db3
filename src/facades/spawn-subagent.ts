import { z } from "zod";
import type { BackgroundStart } from "../core/delegation/background-start.ts";
import { type AgentCard, withWhySkipped } from "../core/delegation/catalog.ts";
import { DEFAULT_AGENT } from "../core/delegation/roster.ts";
import { type Caller, offered, spawnRefusal } from "../core/delegation/spawn.ts";
import { defineTool, type Tool, type ToolResult } from "../core/task/tool.ts";
import { asId } from "../modes/names.ts";
import { describeAgents } from "./agent-lines.ts";
import { excerptOf, shareOf } from "../core/outcome/excerpt.ts";
import { begunTask, delegatePlan, type FacadeTask, planFor } from "./carry-out.ts";
import { delegating, type Facade } from "./facade.ts";
import { createAgentLookup } from "./look.ts";
import { agentNameSchema } from "./names-in-schema.ts";

/**
 * The tool `spawn_subagent` of the program pegasus: the task runs in the background, and its result arrives as a
 * message.
 */
export const spawnSubagent: Facade = { tools: (caller, name) => [spawnTool(caller, name)] };

function spawnTool(caller: Caller, name: string): Tool {
  const look = createAgentLookup(caller);
  const cards = offered(caller.catalog, caller);
  return defineTool({
    name,
    description: describeAgents(cards, {
      before: caller.waits ? BEFORE_WAITING : BEFORE,
      line: (agent, text) => `- ${name}(type: "${agent}")${text === "" ? "" : `: ${text}`}`,
      after: AFTER,
    }),
    input: z.strictObject({
      type: z
        .string()
        .min(1)
        .default(DEFAULT_AGENT)
        .describe(`which type of subagent (default: ${DEFAULT_AGENT})`)
        .meta(agentNameSchema(cards)),
      description: z.string().min(1).describe("a short title"),
      input: z.string().min(1).describe("the complete task: the subagent does not see this conversation"),
    }),
    ...delegating,
    async run({ type, description, input }, context) {
      const { now, news } = await look(context);
      const why = spawnRefusal(type, caller, now);
      if (why !== undefined)
        return {
          text: withWhySkipped(refusals[why](type, caller, offered(now, caller).map(nameOf)), now, type) + news,
          error: true,
        };
      const assignment: FacadeTask = { id: asId(type), agent: type, prompt: input, label: description };
      const plan = planFor([assignment]);
      const { background } = context;
      // If no message can be delivered later, this call waits for the result and returns it.
      if (!background || background.silent)
        return waited(await delegatePlan(plan, context), { news, chars: context.resultChars });
      const begun = await background.start(plan, "result");
      if ("status" in begun) return { text: begun.fault.message + news, error: true };
      const taskId = begunTask(begun, assignment.id, context.run);
      const spawned = { status: "spawned", type, description, taskId };
      const details: typeof spawned & BackgroundStart = { ...spawned, background: taskId };
      return { text: JSON.stringify(spawned) + news, details };
    },
  });
}

const nameOf = ({ name }: AgentCard): string => name;

const BEFORE = `Starts a subagent that works on one task in the background. Its result arrives as a message; do not poll for it. Types:`;
const BEFORE_WAITING = `Starts a subagent that works on one task, waits for it and returns its result. Types:`;
const AFTER = `Types that are [read-only] cannot change anything. Spawn several when their tasks do not depend on each other. Do not delegate
what a single tool call can do.`;

const refusals: Readonly<
  Record<
    NonNullable<ReturnType<typeof spawnRefusal>>,
    (type: string, caller: Caller, names: readonly string[]) => string
  >
> = {
  unknown: (type, _, names) => `Unknown subagent type "${type}". Types are: ${names.join(", ") || "none"}.`,
  disabled: (type, _, names) => `The subagent type "${type}" is disabled. Types are: ${names.join(", ") || "none"}.`,
  blocked: (type) => `"${type}" is already one of your callers; a subagent must not start itself again.`,
  spawns: (type, _, names) => `"${type}" may not be started from here. Types are: ${names.join(", ") || "none"}.`,
  depth: (_, { maxDepth }) => `The maximum delegation depth of ${maxDepth} is reached.`,
};

function waited(
  { outcome, done }: Awaited<ReturnType<typeof delegatePlan>>,
  { news, chars }: Readonly<{ news: string; chars: number | undefined }>,
): ToolResult {
  const last = done[0]?.outcome ?? outcome;
  const taskId = done[0]?.task;
  return {
    text: `${excerptOf(last, shareOf(chars, 1))}${taskId === undefined ? "" : `\n\n[taskId: ${taskId}]`}${news}`,
    error: last.status !== "ok",
    details: { status: last.status, taskId },
  };
}
