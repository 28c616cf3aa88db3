import { agentOf, type Roster } from "../../core/delegation/roster.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { type ForkPoint, forkedMessages } from "../../core/task/fork-point.ts";
import { defined } from "../../core/text/defined.ts";
import { conversationHead } from "../loop/conversation-head.ts";
import { type PreviousConversation, taskIn } from "../resume/previous-runs.ts";
import type { RecordedAgent } from "../resume/recorded-agent.ts";
import { assignAgent } from "./assign-agent.ts";
import { assignAccess } from "./assign-access.ts";
import { assignModel } from "./assign-model.ts";
import { assignPrompt } from "./assign-prompt.ts";
import { assignTools } from "./assign-tools.ts";
import type { World } from "./world.ts";

/**
 * Adds the conversation that a task starts from, if the task or its agent asks for one; otherwise removes the
 * conversation. A task that requests a conversation when there is none is refused.
 */
export async function withFork(call: Call, world: World, context: PerformContext): Promise<Call | FailedOutcome> {
  const { fork: above, ...plain } = call;
  const { task, depth } = call;
  if (task.continues !== undefined) return plain; // the task continues its own conversation
  const wish = task.fork ?? (agentOf(task, world.roster)?.conversation === "fork" ? "above" : false);
  if (wish === false) return plain;
  const recorded = (await context.past()).find((event) => event.type === "conversation.forked");
  const named = typeof task.fork === "string" ? { from: task.fork } : undefined;
  if (named && depth > 0)
    return failed("DENIED", `"${call.path}" may only start from the conversation of the agent that starts it.`, {
      hint: "Use `fork: true`.",
    });
  const from = recorded ?? named;
  const point = named || !above ? from && (await recordedPoint(from, world)) : above;
  if (point && "status" in point) return point;
  if (!point && wish === "above") {
    context.emit({ type: "note", text: `"${call.path}" begins with an empty conversation: no agent started it.` });
    return plain;
  }
  if (!point)
    return failed("BAD_INPUTS", `"${call.path}" has no conversation to start from: no agent started it.`, {
      hint: "Leave out `fork: true`, or name a task: `--fork RUN/TASK`.",
    });
  if (!recorded) context.emit({ type: "conversation.forked", from: point.task, turn: point.turn });
  return { ...plain, fork: point, before: call.before ?? forkedMessages(point) };
}

/** The conversation of a task of any run, from its journal, with the prompt and the tools that it was sent with. */
async function recordedPoint(
  { from, turn }: Readonly<{ from: string; turn?: number }>,
  world: World,
): Promise<ForkPoint | FailedOutcome> {
  const talk = await world.earlier?.talkOf(from, turn);
  const agent = talk?.agent;
  if (!talk || !agent)
    return failed("BAD_INPUTS", `"${from}" has no conversation to start from.`, {
      hint: "See `subcrew runs` and `subcrew status RUN` for the existing tasks.",
    });
  const above = talk.forked && (await recordedPoint(talk.forked, world));
  if (above && "status" in above) return above;
  const sent = await headOf(from, { ...talk, agent }, world, above);
  if ("status" in sent) return sent;
  const { prompt, ...head } = sent;
  const messages = talk.open.map((message, at) =>
    at === talk.forked?.first && message.role === "user" ? { ...message, text: prompt } : message,
  );
  return { ...head, task: from, turn: talk.turns, messages };
}

/**
 * The system prompt and tools of a recorded conversation, computed again as they were recorded, and its first message.
 * `above`: the conversation that it was forked from; a fork uses the system prompt and tools of that conversation.
 */
async function headOf(
  from: string,
  { agent: recorded, begins, delegated, environment }: PreviousConversation & Readonly<{ agent: RecordedAgent }>,
  world: World,
  above: ForkPoint | undefined,
): Promise<(Omit<ForkPoint, "task" | "turn" | "messages"> & Readonly<{ prompt: string }>) | FailedOutcome> {
  const { name } = recorded.definition;
  const roster: Roster = {
    ...world.roster,
    find: (other) => (other === name ? recorded.definition : world.roster.find(other)),
  };
  const call: Call = {
    ...taskIn(from),
    attempt: 1,
    ...begins,
    task: { ...begins.task, model: recorded.model },
    depth: delegated ? 1 : 0,
    recordedRights: recorded.rights,
    ...defined({ environment, fork: above }),
  };
  const request = { call, world: { ...world, roster }, emit: () => {} };
  const who = assignAgent(request);
  if ("status" in who) return who;
  const granted = await assignTools(request, who);
  if ("status" in granted) return granted;
  const opened = await assignAccess(request, { ...who, ...granted });
  if ("status" in opened) return opened;
  const chosen = await assignModel(request, who);
  if ("status" in chosen) return chosen;
  const told = await assignPrompt(request, { ...who, ...granted, ...opened, model: chosen.model });
  if ("status" in told) return told;
  const { model } = chosen;
  const agent = model.thinking === undefined ? who.agent : { ...who.agent, thinking: model.thinking };
  const { thinking, temperature, topP } = above ?? agent;
  const { tools, prefix } = conversationHead({ ...told, ...granted, agent }, above);
  return {
    prompt: told.prompt,
    agent: name,
    model: model.ref,
    system: told.system,
    tools,
    prefix,
    ...defined({ thinking, temperature, topP }),
  };
}
