import { z } from "zod";
import type { BackgroundStart } from "../core/delegation/background-start.ts";
import type { AgentCard } from "../core/delegation/catalog.ts";
import { type Caller, offered, spawnRefusal } from "../core/delegation/spawn.ts";
import type { Outcome, ReadOutcome } from "../core/outcome/outcome.ts";
import { limitNote } from "../core/outcome/reached-limit.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../core/task/tool.ts";
import { cutSummary } from "../core/text/cut.ts";
import { defined } from "../core/text/defined.ts";
import { asId, nodeIds } from "../modes/names.ts";
import { describeAgents } from "./agent-lines.ts";
import { excerptOf, shareOf } from "../core/outcome/excerpt.ts";
import { begunTask, delegatePlan, type FacadeTask, type FinishedNode, planFor } from "./carry-out.ts";
import { delegating, type Facade, type FacadeParts } from "./facade.ts";
import { type AgentLookup, createAgentLookup } from "./look.ts";
import { agentNameSchema } from "./names-in-schema.ts";
import { createStartedTasks, type StartedTasks } from "./started-tasks.ts";
import { taskOutput } from "./task-output.ts";
import { backgroundStarted, backgroundNote, resultBox, totalBox } from "./task-texts.ts";

/** The models that a caller may name, with the names in gen-code's document. */
export const TASK_MODELS = ["haiku", "sonnet", "opus"] as const;

/** The tool `Task` of the program gen-code, with `TaskOutput` for background tasks. */
export const subagentTask: Facade = {
  tools: (caller, name, parts) => {
    const desk = createStartedTasks();
    return [taskTool({ caller, name, parts, desk }), taskOutput(desk, parts)];
  },
};

type Made = Readonly<{ caller: Caller; name: string; parts: FacadeParts; desk: StartedTasks }>;

function taskTool({ caller, name, parts, desk }: Made): Tool {
  const look = createAgentLookup(caller);
  const cards = offered(caller.catalog, caller);
  const one = {
    description: z.string().min(1).describe("a title of 3 to 5 words"),
    prompt: z.string().min(1).describe("the complete task: the agent does not see this conversation"),
    subagent_type: z
      .string({ error: "subagent_type is required" })
      .min(1)
      .describe("the agent to use")
      .meta(agentNameSchema(cards)),
    model: z.enum(TASK_MODELS).optional().describe("haiku for simple tasks, sonnet for most, opus for hard ones"),
    max_turns: z.number().positive().optional().describe("maximum number of turns"),
  };
  const input = z.strictObject({
    ...one,
    run_in_background: z
      .boolean()
      .optional()
      .describe("run in the background; the result arrives as a message, and TaskOutput shows the progress"),
    resume: z.string().optional().describe("the agentId of an earlier call: continues that conversation"),
    tasks: z
      .array(z.strictObject(one))
      .optional()
      .describe("several tasks to run in parallel, instead of the single task"),
  });
  return defineTool({
    name,
    description: describeAgents(cards, {
      before: BEFORE,
      after: [...choiceOf(cards), AFTER].join("\n"),
    }),
    input,
    ...delegating,
    async run({ tasks, run_in_background: wished, resume: earlier, ...single }, context) {
      const looked = await look(context);
      const resume = earlier === "" ? undefined : earlier;
      const wanted = tasks !== undefined && tasks.length > 0 ? tasks : [single];
      const refused = wanted
        .map(({ subagent_type }) => refusal(subagent_type, caller, looked))
        .find((text) => text !== undefined);
      if (refused !== undefined) return failure(refused, looked.news);
      const assignments = assignmentsOf(wanted, resume, desk);
      const card = looked.now.agents.find(({ name: one }) => one === single.subagent_type);
      if ((wished ?? card?.background === true) && tasks === undefined)
        return inBackground(assignments[0]!, { context, desk, parts, news: looked.news });
      const { outcome, done } = await delegatePlan(planFor(assignments), context);
      if (done.length === 0) return failure(failureText(outcome, { resume }), looked.news);
      for (const [at, { task: id }] of done.entries()) desk.did(id, assignments[at]!.agent ?? "");
      const chars = shareOf(context.resultChars, done.length);
      const boxed = parts.box === true;
      const texts = done.map((each, at) => resultText(each, assignments[at]!, { resume, chars, boxed }));
      const good = done.some((each) => each.outcome.status === "ok");
      const details = done.map(taskOutputOf);
      return {
        text:
          (done.length === 1
            ? texts[0]!
            : [
                ...texts.map((text, at) => `## ${assignments[at]!.label}\n\n${text}`),
                ...(boxed ? [totalBox(done.map((each) => each.outcome))] : []),
              ].join("\n\n")) + looked.news,
        error: !good,
        details: done.length === 1 ? details[0] : { tasks: details },
      };
    },
  });
}

const BEFORE = `Delegates a task to an agent that works in its own context and returns what it found or did. Agents:`;
const AFTER = `How to use this tool:
- Several calls in one turn, or \`tasks\`, run in parallel: use that whenever tasks do not depend on each other.
- Include everything the agent has to know. [read-only] agents cannot change anything.
- Do not delegate what a single tool call can do.`;

/** The agents that gen-code's document names, and what each is for. */
const CHOICE = {
  Explore: "to search and understand code",
  Plan: "to design",
  Bash: "to run commands",
  "general-purpose": "for everything",
} as const;

/** Which agent to choose, as gen-code's document says it, where its agents are offered. */
function choiceOf(cards: readonly AgentCard[]): string[] {
  const known = Object.entries(CHOICE).filter(([each]) => cards.some(({ name }) => name === each));
  const text = known.map(([each, what]) => `${each} ${what}`).join(", ");
  return text === "" ? [] : [`${text}; or another agent of the list.`];
}

function refusal(type: string, caller: Caller, { now }: AgentLookup): string | undefined {
  const why = spawnRefusal(type, caller, now);
  const available =
    offered(now, caller)
      .map(({ name }) => name)
      .join(", ") || "none";
  return (
    why &&
    {
      unknown: `Unknown subagent type: ${type}. Available: ${available}`,
      disabled: `The subagent type ${type} is disabled. Available: ${available}`,
      blocked: `The subagent type ${type} is already one of your callers; a subagent must not start itself again.`,
      spawns: `The subagent type ${type} may not be started from here. Available: ${available}`,
      depth: `The maximum delegation depth of ${caller.maxDepth} is reached.`,
    }[why]
  );
}

type Wanted = Readonly<{
  description: string;
  prompt: string;
  subagent_type: string;
  model?: string | undefined;
  max_turns?: number | undefined;
}>;

function assignmentsOf(
  wanted: readonly Wanted[],
  resume: string | undefined,
  desk: StartedTasks,
): (FacadeTask & { label: string })[] {
  const ids = nodeIds(
    wanted.map(({ subagent_type }) => ({ else: asId(subagent_type) })),
    "tasks",
  );
  return wanted.map(({ description, prompt, subagent_type, model, max_turns }, at) => ({
    id: ids[at]!,
    agent: (resume !== undefined && desk.typeOf(resume)) || subagent_type,
    prompt,
    label: description,
    ...defined({ model }),
    ...(max_turns !== undefined && { resourceLimits: { maxTurns: Math.ceil(max_turns) } }),
    ...defined({ continues: resume }),
  }));
}

type Starting = Readonly<{ context: ToolContext; desk: StartedTasks; parts: FacadeParts; news: string }>;

async function inBackground(
  assignment: FacadeTask & { label: string },
  { context, desk, parts, news }: Starting,
): Promise<ToolResult> {
  const { background } = context;
  if (!background)
    return failure("Background tasks are not available here. Call again without run_in_background.", news);
  const plan = planFor([assignment]);
  const begun = await background.start(plan, "ending");
  if ("status" in begun) return failure(`Subagent execution failed: ${begun.fault.message}`, news);
  const id = begunTask(begun, assignment.id, context.run);
  const file = begun.files[assignment.id];
  const record = {
    id,
    type: assignment.agent ?? "",
    description: assignment.label,
    ...defined({ file }),
  };
  desk.begin({ ...record, status: "running", startedAt: parts.clock() }, begun);
  void background.ended(begun.key, new AbortController().signal).then(
    (delegated) => {
      const outcome = delegated?.nodes?.[assignment.id] ?? delegated;
      if (outcome)
        desk.end(id, outcome, {
          endedAt: parts.clock(),
          result: excerptOf({ ...outcome, ...defined({ file }) }, shareOf(context.resultChars, 1)),
        });
    },
    () => {}, // the code that awaits the promise handles the rejection
  );
  const details: BackgroundStart & Record<string, unknown> = {
    success: true,
    agentId: id,
    outputFile: file,
    background: id,
  };
  return { text: (parts.box === true ? backgroundStarted : backgroundNote)(record) + news, details };
}

/** The result of `Task` in the format of gen-code's document. */
function taskOutputOf({ outcome, task: agentId }: FinishedNode): Record<string, unknown> {
  const { usage } = outcome;
  const rest = {
    agentId,
    ...defined({ outputFile: outcome.file, turns: usage?.turns, durationMs: outcome.ms }),
    ...(usage && { tokenUsage: { input: usage.input, output: usage.output } }),
  };
  if (outcome.status === "ok") return { success: true, result: shortened(outcome), ...rest };
  return { success: false, error: excerptOf(outcome), ...rest };
}

function resultText(
  { outcome, task: agentId }: FinishedNode,
  { agent = "", label = "" }: FacadeTask,
  { resume, chars, boxed }: Readonly<{ resume: string | undefined; chars: number; boxed: boolean }>,
): string {
  const text = outcome.status === "ok" ? excerptOf(outcome, chars) : failureText(outcome, { resume, chars });
  const box = boxed && outcome.status === "ok" ? `\n\n${resultBox(outcome, { type: agent, task: label })}` : "";
  return text === SESSION_LOST ? text : `${text}\n\n[agentId: ${agentId}]${box}`;
}

const SESSION_LOST = "Resume failed: Session not found";

/** The part of a result that is added to the caller's conversation. */
export function shortened(outcome: Outcome): string {
  const note = outcome.limit === undefined ? "" : `\n\n[${limitNote(outcome)}]`;
  return "output" in outcome
    ? `${cutSummary(outcome.output ?? "", outcome.summaryChars, outcome.summaryCut).text}${note}`
    : "";
}

function failureText(
  outcome: ReadOutcome,
  { resume, chars }: Readonly<{ resume: string | undefined; chars?: number }>,
): string {
  const gone = outcome.status === "failed" && (outcome.fault.code === "BAD_INPUTS" || outcome.fault.code === "DENIED");
  if (resume !== undefined && gone) return SESSION_LOST;
  return `Subagent execution failed: ${excerptOf(outcome, chars)}`;
}

const failure = (text: string, news: string): ToolResult => ({
  text: text + news,
  error: true,
  details: { success: false, error: text },
});
