import type { KeptEvent } from "../../core/run/event.ts";
import { messageChars, totalChars } from "../../core/model/compact.ts";
import type { Message, ModelRequest, ToolAnswer, ToolCall } from "../../core/model/model.ts";
import { createRepeats } from "../../core/model/repeated-calls.ts";
import type { Spending } from "../../core/outcome/outcome.ts";
import { isFinishTool } from "../../core/policy/permit.ts";
import type { BudgetRefusal } from "../../core/run/budget.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { ForkPoint } from "../../core/task/fork-point.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { prompts } from "../../embedded.ts";
import { createModelCalls } from "./ask-model.ts";
import { callTool, callProgress, reachesOf } from "./call-tool.ts";
import { reporterOf } from "./corrections.ts";
import { conversationHead } from "./conversation-head.ts";
import { type FinishAttempt, finishText, finishWith, finishWithoutTool } from "./finish-tool.ts";
import { createRoomMaker } from "./make-room.ts";
import { type RebuiltConversation, rebuildConversation } from "./rebuild-conversation.ts";
import type { AnsweredTurn, Turn } from "./turn.ts";
import { inOrder } from "./turn-order.ts";
import { addCount } from "../../core/text/json.ts";

/** Number of turns in a row with nothing but refused calls after which an agent is stopped. */
const MAX_REFUSED_TURNS = 5;

/** How a task continues after the tool calls of one turn. */
export type TurnReply =
  | Readonly<{ is: "more" }>
  | Readonly<{ is: "over"; finish: FinishAttempt }>
  /** The tool calls did not run, because the run's budget of tool calls is used up. */
  | Readonly<{ is: "limit"; refusal: BudgetRefusal }>
  /** The agent makes no progress and gets its last turn: it repeats a call, or all its calls are refused. */
  | Readonly<{ is: "idle"; code: "STUCK" | "DENIED"; text: string }>;

export type Conversation = ReturnType<typeof openConversation>;

/**
 * The messages of one task and what they cost; every model request and tool call of the task goes through this object.
 */
export function openConversation(assignment: Assignment, context: PerformContext, recorded: readonly KeptEvent[]) {
  const { agent, model, limits, completion } = assignment;
  const shared = assignment.sharedChars ?? 0;
  const past: RebuiltConversation = rebuildConversation(recorded, [
    ...(assignment.call.before ?? []),
    {
      role: "user",
      text: assignment.prompt,
      ...defined({ images: assignment.call.images }),
      ...(shared > 0 && { shared }),
    },
  ]);
  assignment.access?.allowReading([...(assignment.call.readable ?? []), ...past.files]);
  for (const { id: call, name: tool, text } of past.unknown) context.emit({ type: "tool.unknown", call, tool, text });
  for (const { id: call, name: tool, text } of past.behind)
    context.emit({ type: "tool.rejected", call, tool, reason: "the outcome of an earlier call is unknown", text });
  const messages: Message[] = [...past.messages];
  /** All texts of the agent, including texts of messages that a summary replaced. */
  const said = recorded.flatMap((event) => (event.type === "turn.ended" ? [event.text] : []));
  const used: Record<string, number> = { ...past.used };
  const repeated = createRepeats();
  const { tools, finishTool, chars: fixedChars, prefix } = conversationHead(assignment, assignment.call.fork);
  const sampling = defined({ thinking: agent.thinking, temperature: agent.temperature, topP: agent.topP });
  let { turns } = past;
  const modelCalls = createModelCalls(assignment, context, past);
  const roomFor = createRoomMaker(assignment, context, { fixedChars, spend: modelCalls.spend });
  let chars = totalChars(messages);
  let contextTokens = 0;
  /** The model that answers, which after a fallback is not the first model of the task. */
  let answering = model.name;
  let refusedTurns = 0;
  /** True when only a call of the finish tool is carried out in this turn. */
  let closing = past.unfinished?.limit !== undefined;
  const unread = [...past.mail];

  const say = (message: Message): void => {
    messages.push(message);
    chars += messageChars(message);
  };

  /** Adds waiting messages to the conversation; true when there were any. */
  const readMail = async (wait?: AbortSignal): Promise<boolean> => {
    const mail = [...unread.splice(0), ...(await context.mail(wait))];
    for (const text of mail) say({ role: "user", text });
    return mail.length > 0;
  };

  /**
   * Requests one model turn within the budget. `last`: only returning the result is possible. System prompt and tools
   * stay the same, because a provider caches them and refuses tool calls in messages without tools.
   */
  const next = async (
    signal: AbortSignal,
    { last = false }: { last?: boolean } = {},
  ): Promise<Turn | BudgetRefusal> => {
    // Both values are requested together: for a task on another machine, each request is a round trip to the database.
    const [refusal, room] = await Promise.all([
      last ? undefined : context.budget.count("maxTurns"),
      context.budget.room(),
      readMail(),
    ]);
    if (refusal) return refusal;
    const isCompacted = await makeRoom(signal);
    closing = last;
    const request: ModelRequest = {
      model: model.id,
      system: assignment.system,
      messages: [...messages],
      tools,
      toolChoice: last ? (finishTool === undefined ? "none" : { tool: finishTool }) : "auto",
      prefix,
      ...sampling,
    };
    const reserved = modelCalls.reservedFor(fixedChars + chars);
    const turn = await modelCalls.ask(request, signal, {
      turn: turns + 1,
      last,
      reserved,
      ...(!isCompacted && { room: { tokens: room } }),
      begin: (number) => {
        turns = number;
        const { maxTurns, maxTimeMs, enforce } = assignment.limits;
        const first = turns === 1 ? { why: model.why, limits: enforce ? { maxTurns, maxTimeMs } : undefined } : {};
        context.emit({ type: "turn.started", turn: turns, model: answering, ...defined(first), reserved });
      },
    });
    if (!("calls" in turn)) return turn;
    const { text, calls, carry } = turn;
    contextTokens = turn.usage.contextTokens + turn.usage.output;
    answering = turn.model ?? model.name;
    const by = turn.model === undefined ? {} : { model: turn.model };
    say({ role: "assistant", text, calls, ...defined({ carry }) });
    said.push(text);
    context.emit({
      type: "turn.ended",
      turn: turns,
      ...defined({ thinking: turn.thinking }),
      text,
      calls,
      usage: turn.usage,
      cost: turn.cost,
      ...defined({ carry }),
      ...by,
    });
    return turn;
  };

  /** The current conversation, for subagents that start with it. */
  const forkPoint = (): ForkPoint => ({
    task: `${assignment.call.run}/${assignment.call.path}`,
    turn: turns,
    agent: agent.name,
    model: model.ref,
    system: assignment.system,
    tools,
    messages: [...messages],
    prefix,
    ...sampling,
  });

  /** Records what was corrected in the result. */
  const report = reporterOf(context);

  /** The context of tool calls. It is created again only when the signal of the calls changes. */
  let inner: PerformContext | undefined;
  const insideTurn = (signal: AbortSignal): PerformContext => {
    if (inner?.signal !== signal) inner = withConversation(context, signal, forkPoint);
    return inner;
  };

  /**
   * Executes the tool calls of a turn in their order. A call of the finish tool is accepted after the other calls ran; a
   * second call of the finish tool is ignored.
   */
  const answer = async (
    turn: AnsweredTurn,
    signal: AbortSignal,
    known: ReadonlyMap<string, ToolAnswer> = NOTHING,
  ): Promise<TurnReply> => {
    if (turn.calls.length === 0) {
      const finish: FinishAttempt =
        completion === "tool"
          ? finishWithoutTool(turn.text, assignment, agent.completion === "tool", report)
          : finishText(turn.text, assignment, report);
      return { is: "over", finish };
    }
    const isSkipped = ({ id }: ToolCall): boolean => past.behind.some((each) => each === known.get(id));
    const finishCall =
      completion === "text" ? undefined : turn.calls.find((call) => isFinishTool(call.name) && !isSkipped(call));
    const finish = finishCall && finishWith(finishCall.input, assignment, report);
    const toolContext = insideTurn(signal);
    let reply: TurnReply = finish ? { is: "over", finish } : { is: "more" };
    const carryOut = async (call: ToolCall): Promise<ToolAnswer> => {
      if (call === finishCall)
        return receipt(call, finish, { emit: context.emit, resultName: agent.outputName ?? "result" });
      if (finishCall && isFinishTool(call.name)) return alreadyComplete(call, context.emit);
      const before = known.get(call.id);
      if (before) return before;
      if (closing) return tooLate(call, context.emit);
      const refusal = await context.budget.count("maxToolCalls");
      if (refusal) {
        if (reply.is === "more") reply = { is: "limit", refusal };
        return { id: call.id, name: call.name, text: `Not carried out: ${refusal.refused}.`, error: true };
      }
      const result = await callTool(call, assignment, toolContext);
      if (!result.denied) addCount(used, call.name);
      made.set(result, call);
      return result;
    };
    for (const { name } of turn.calls) addCount(used, name, 0); // tools are listed in the order of their calls
    const made = new Map<ToolAnswer, ToolCall>();
    const results = await inOrder(turn.calls, {
      limit: limits.maxConcurrentToolCalls,
      reach: reachesOf(turn.calls, assignment),
      run: carryOut,
    });
    const { idle, told } = progress(results, made);
    say({ role: "tool", results: told });
    return idle && !closing && reply.is === "more" ? idle : reply;
  };

  /** Notices whether the calls of a turn made no progress: the results with warnings, and the reason to stop. */
  const progress = (
    results: readonly ToolAnswer[],
    made: ReadonlyMap<ToolAnswer, ToolCall>,
  ): { told: ToolAnswer[]; idle?: Extract<TurnReply, { is: "idle" }> } => {
    refusedTurns = results.every(({ denied }) => denied) ? refusedTurns + 1 : 0;
    const counted = results.flatMap((result) => {
      const call = made.get(result);
      const kind = call && callProgress(call, assignment);
      return !call || kind === "polls" ? [] : [{ result, call, changes: kind === "changes" && !result.error }];
    });
    const again = repeated(
      counted.map(({ result, call: { name, input }, changes }) => ({
        tool: name,
        input,
        result: result.text,
        changes,
      })),
    );
    const repeats = new Map(counted.map(({ result }, at) => [result, again[at]]));
    const told = results.map((result) =>
      repeats.get(result) === "tell" ? { ...result, text: `${result.text}\n${prompts.sameAgain}` } : result,
    );
    if (refusedTurns >= MAX_REFUSED_TURNS) {
      const text = `All calls of ${refusedTurns} turns in a row were refused.`;
      return { told, idle: { is: "idle", code: "DENIED", text } };
    }
    const stuck = results.find((result) => repeats.get(result) === "stop");
    if (!stuck) return { told };
    const text = `The agent called ${stuck.name} with the same arguments and the same result repeatedly.`;
    return { told, idle: { is: "idle", code: "STUCK", text } };
  };

  /** Shortens the conversation before the context overflows, or after a provider reported an overflow. */
  const makeRoom = async (signal: AbortSignal, { force = false }: { force?: boolean } = {}): Promise<boolean> => {
    const made = await roomFor({ messages, chars, counted: contextTokens, isRefused: force, signal });
    if (!made) return false;
    messages.splice(0, messages.length, ...made.messages);
    chars = totalChars(messages);
    if (force || made.event.summary !== undefined) contextTokens = 0;
    context.emit(made.event);
    return true;
  };

  const usedTools = (): Record<string, number> =>
    Object.fromEntries(Object.entries(used).filter(([, count]) => count > 0));

  return {
    next,
    answer,
    makeRoom,
    readMail,
    unfinished: past.unfinished,
    idle: past.idle,
    tell: (text: string): void => say({ role: "user", text }),
    turns: () => turns,
    messages: (): readonly Message[] => [...messages],
    said: (): readonly string[] => [...said],
    spent: (): Spending => ({ ...modelCalls.spent(), model: answering, tools: usedTools() }),
  };
}

/** The context of tool calls with this signal. Forked subagents start from the conversation as it is at that moment. */
function withConversation(context: PerformContext, signal: AbortSignal, conversation: () => ForkPoint): PerformContext {
  const { background } = context;
  return {
    ...context,
    signal,
    delegate: (what, parent, stop) => context.delegate(what, { ...parent, conversation: conversation() }, stop),
    ...(background && {
      background: {
        ...background,
        start: (what, parent, tells) => background.start(what, { ...parent, conversation: conversation() }, tells),
      },
    }),
  };
}

const NOTHING: ReadonlyMap<string, ToolAnswer> = new Map();

/** The message to the model about a call of the finish tool without a result, in the words of Gemini CLI. */
const missingText = (name: string): string =>
  name === "result"
    ? 'Missing required "result" argument. You must provide your findings when calling complete_task.'
    : `Missing required argument '${name}' for completion.`;

/** Refuses a tool call in a turn in which only the result can be returned. */
function tooLate({ id, name }: ToolCall, emit: PerformContext["emit"]): ToolAnswer {
  const text = `DENIED: ${name} was not carried out; in this turn only returning the result was possible.`;
  emit({
    type: "tool.denied",
    call: id,
    tool: name,
    rule: "only returning the result is possible in the last turn",
    text,
  });
  return { id, name, text, error: true, denied: true };
}

/** The answer to a second call of the finish tool: only the first call in a turn counts. */
function alreadyComplete({ id, name }: ToolCall, emit: PerformContext["emit"]): ToolAnswer {
  const text = "Task already marked complete in this turn. Ignoring duplicate call.";
  emit({ type: "tool.rejected", call: id, tool: name, reason: "the task was already marked complete", text });
  return { id, name, text, error: true };
}

/**
 * The tool result of a call of the finish tool after which the conversation continues: a confirmation, or why the
 * result was not accepted.
 */
function receipt(
  { id, name }: ToolCall,
  finish: FinishAttempt | undefined,
  { emit, resultName }: Readonly<{ emit: PerformContext["emit"]; resultName: string }>,
): ToolAnswer {
  if (!finish || !("problem" in finish)) return { id, name, text: "Received.", error: false };
  const { problem, empty, detail = problem } = finish;
  const isMissing = empty || problem === `the argument "${resultName}" is missing`;
  const text = isMissing
    ? missingText(resultName)
    : `Output validation failed: ${detail}. Correct it and call ${name} again.`;
  emit({ type: "tool.rejected", call: id, tool: name, reason: problem, text });
  return { id, name, text, error: true };
}

/** True for a model turn that was refused because of the budget. */
export function isBudgetRefusal(turn: Turn | BudgetRefusal): turn is BudgetRefusal {
  return "refused" in turn;
}
