import { messageChars, totalChars } from "../../core/model/compact.ts";
import type { Message, ModelRequest, ToolAnswer } from "../../core/model/model.ts";
import type { Spending } from "../../core/outcome/outcome.ts";
import type { RecordedLimit } from "../../core/outcome/task-ending.ts";
import type { BudgetRefusal } from "../../core/run/budget.ts";
import type { KeptEvent, ReservedTurn } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { ForkPoint } from "../../core/task/fork-point.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { ModelCalls } from "./ask-model.ts";
import { type ConversationHead, conversationHead } from "./conversation-head.ts";
import { reporterOf } from "./corrections.ts";
import { finishText, finishWithoutTool } from "./finish-tool.ts";
import { RoomMaker } from "./make-room.ts";
import { type RebuiltConversation, rebuildConversation, type UnfinishedTurn } from "./rebuild-conversation.ts";
import { ToolCalls, type TurnReply } from "./tool-calls.ts";
import type { AnsweredTurn, Turn } from "./turn.ts";

/**
 * The messages of one task and what they cost; every model request and tool call of the task goes through this object.
 */
export class Conversation {
  /** The last turn before a resume, if its tool calls are not answered yet. */
  readonly unfinished: UnfinishedTurn | undefined;
  /** Set if the task made no progress before a resume and has not taken its last turn. */
  readonly idle: RecordedLimit | undefined;
  readonly #assignment: Assignment;
  readonly #context: PerformContext;
  readonly #head: ConversationHead;
  readonly #models: ModelCalls;
  readonly #tools: ToolCalls;
  readonly #room: RoomMaker;
  readonly #messages: Message[];
  readonly #unread: string[];
  /** All texts of the agent, including texts of messages that a summary replaced. */
  readonly #said: string[];
  #chars: number;
  #turns: number;
  #contextTokens = 0;
  /** The model that answers, which after a fallback is not the first model of the task. */
  #answering: string;
  /** True when only a call of the finish tool is carried out in this turn. */
  #closing: boolean;

  constructor(assignment: Assignment, context: PerformContext, recorded: readonly KeptEvent[]) {
    const past = rebuildConversation(recorded, beginningOf(assignment));
    this.unfinished = past.unfinished;
    this.idle = past.idle;
    this.#assignment = assignment;
    this.#context = context;
    this.#head = conversationHead(assignment, assignment.call.fork);
    this.#models = new ModelCalls(assignment, context, past);
    this.#tools = new ToolCalls(assignment, context, past);
    this.#room = new RoomMaker(assignment, context, {
      fixedChars: this.#head.chars,
      spend: (turn) => this.#models.spend(turn),
    });
    this.#messages = [...past.messages];
    this.#unread = [...past.mail];
    this.#said = recorded.flatMap((event) => (event.type === "turn.ended" ? [event.text] : []));
    this.#chars = totalChars(this.#messages);
    this.#turns = past.turns;
    this.#answering = assignment.model.name;
    this.#closing = past.unfinished?.limit !== undefined;
    assignment.access?.allowReading([...(assignment.call.readable ?? []), ...past.files]);
    reportUncertain(past, context);
  }

  /**
   * Requests one model turn within the budget. `last`: only returning the result is possible. System prompt and tools
   * stay the same, because a provider caches them and refuses tool calls in messages without tools.
   */
  async next(signal: AbortSignal, { last = false }: { last?: boolean } = {}): Promise<Turn | BudgetRefusal> {
    const { budget } = this.#context;
    // Both values are requested together: for a task on another machine, each request is a round trip to the database.
    const [refusal, room] = await Promise.all([
      last ? undefined : budget.count("maxTurns"),
      budget.room(),
      this.readMail(),
    ]);
    if (refusal) return refusal;
    const isCompacted = await this.makeRoom(signal);
    this.#closing = last;
    const reserved = this.#models.reservedFor(this.#head.chars + this.#chars);
    const turn = await this.#models.ask(this.#request(last), signal, {
      turn: this.#turns + 1,
      last,
      reserved,
      ...(!isCompacted && { room: { tokens: room } }),
      begin: (number) => this.#begin(number, reserved),
    });
    if ("calls" in turn) this.#record(turn);
    return turn;
  }

  /** Executes the tool calls of a turn; `known`: the results that were recorded before a resume. */
  async answer(turn: AnsweredTurn, signal: AbortSignal, known?: ReadonlyMap<string, ToolAnswer>): Promise<TurnReply> {
    if (turn.calls.length === 0) return { is: "over", finish: this.#finishIn(turn) };
    const { reply, results } = await this.#tools.answer(turn.calls, { signal, closing: this.#closing, known });
    this.#say({ role: "tool", results });
    return reply;
  }

  /** Shortens the conversation before the context overflows, or after a provider reported an overflow. */
  async makeRoom(signal: AbortSignal, { force = false }: { force?: boolean } = {}): Promise<boolean> {
    const messages = this.#messages;
    const counted = this.#contextTokens;
    const made = await this.#room.make({ messages, chars: this.#chars, counted, isRefused: force, signal });
    if (!made) return false;
    messages.splice(0, messages.length, ...made.messages);
    this.#chars = totalChars(messages);
    if (force || made.event.summary !== undefined) this.#contextTokens = 0;
    this.#context.emit(made.event);
    return true;
  }

  /** Adds waiting messages to the conversation; true when there were any. */
  async readMail(wait?: AbortSignal): Promise<boolean> {
    const mail = [...this.#unread.splice(0), ...(await this.#context.mail(wait))];
    for (const text of mail) this.tell(text);
    return mail.length > 0;
  }

  tell(text: string): void {
    this.#say({ role: "user", text });
  }

  turns(): number {
    return this.#turns;
  }

  messages(): readonly Message[] {
    return [...this.#messages];
  }

  said(): readonly string[] {
    return [...this.#said];
  }

  spent(): Spending {
    return { ...this.#models.spent(), model: this.#answering, tools: this.#tools.used() };
  }

  /** The current conversation, for subagents that start with it. */
  forkPoint(): ForkPoint {
    const { agent, call, model, system } = this.#assignment;
    const { tools, prefix } = this.#head;
    const task = `${call.run}/${call.path}`;
    const messages = this.messages();
    return {
      task,
      turn: this.#turns,
      agent: agent.name,
      model: model.ref,
      system,
      tools,
      messages,
      prefix,
      ...samplingOf(agent),
    };
  }

  #request(last: boolean): ModelRequest {
    const { agent, model, system } = this.#assignment;
    const { tools, finishTool, prefix } = this.#head;
    const toolChoice = last ? (finishTool === undefined ? "none" : { tool: finishTool }) : "auto";
    return { model: model.id, system, messages: this.messages(), tools, toolChoice, prefix, ...samplingOf(agent) };
  }

  /** Records that a turn begins. The first turn names the limits of the task. */
  #begin(turn: number, reserved: ReservedTurn): void {
    this.#turns = turn;
    const { limits, model } = this.#assignment;
    const { maxTurns, maxTimeMs, enforce } = limits;
    const first = turn === 1 ? { why: model.why, limits: enforce ? { maxTurns, maxTimeMs } : undefined } : {};
    this.#context.emit({ type: "turn.started", turn, model: this.#answering, ...defined(first), reserved });
  }

  #record({ text, calls, carry, thinking, usage, cost, model }: AnsweredTurn): void {
    this.#contextTokens = usage.contextTokens + usage.output;
    this.#answering = model ?? this.#assignment.model.name;
    this.#say({ role: "assistant", text, calls, ...defined({ carry }) });
    this.#said.push(text);
    this.#context.emit({
      type: "turn.ended",
      turn: this.#turns,
      ...defined({ thinking }),
      text,
      calls,
      usage,
      cost,
      ...defined({ carry, model }),
    });
  }

  #finishIn({ text }: AnsweredTurn): Extract<TurnReply, { is: "over" }>["finish"] {
    const { agent, completion } = this.#assignment;
    const report = reporterOf(this.#context);
    return completion === "tool"
      ? finishWithoutTool(text, this.#assignment, agent.completion === "tool", report)
      : finishText(text, this.#assignment, report);
  }

  #say(message: Message): void {
    this.#messages.push(message);
    this.#chars += messageChars(message);
  }
}

/** The messages with which the conversation of a task begins. */
function beginningOf({ call, prompt, sharedChars = 0 }: Assignment): Message[] {
  return [
    ...(call.before ?? []),
    {
      role: "user",
      text: prompt,
      ...defined({ images: call.images }),
      ...(sharedChars > 0 && { shared: sharedChars }),
    },
  ];
}

/** Records the calls whose outcome is unknown after a resume, and those that are not carried out because of them. */
function reportUncertain({ unknown, behind }: RebuiltConversation, { emit }: PerformContext): void {
  for (const { id: call, name: tool, text } of unknown) emit({ type: "tool.unknown", call, tool, text });
  for (const { id: call, name: tool, text } of behind)
    emit({ type: "tool.rejected", call, tool, reason: "the outcome of an earlier call is unknown", text });
}

const samplingOf = ({
  thinking,
  temperature,
  topP,
}: Assignment["agent"]): Pick<ForkPoint, "thinking" | "temperature" | "topP"> =>
  defined({ thinking, temperature, topP });

/** True for a model turn that was refused because of the budget. */
export function isBudgetRefusal(turn: Turn | BudgetRefusal): turn is BudgetRefusal {
  return "refused" in turn;
}
