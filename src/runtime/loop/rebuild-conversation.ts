import type { Message, ToolAnswer } from "../../core/model/model.ts";
import type { RecordedLimit } from "../../core/outcome/task-ending.ts";
import { addCost, addUsage, type Cost, noCost, noUsage, type Usage } from "../../core/outcome/usage.ts";
import { isFinishTool } from "../../core/policy/permit.ts";
import { cutTurn, type OpenTurn } from "../../core/run/cut-turn.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { defined } from "../../core/text/defined.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import type { AnsweredTurn } from "./turn.ts";
import { addCount } from "../../core/text/json.ts";

/** A conversation rebuilt from the journal. */
export type RebuiltConversation = Readonly<{
  messages: readonly Message[];
  /** True: a summary replaces some of the messages. */
  shortened: boolean;
  turns: number;
  usage: Usage;
  cost: Cost;
  used: Readonly<Record<string, number>>;
  /** Unread messages to the task. */
  mail: readonly string[];
  /** The output files of other tasks that this task may read. */
  files: readonly string[];
  /** Calls of tools with effects that were running at the interruption and were not reported yet. */
  unknown: readonly ToolAnswer[];
  /** Calls of the last turn that are not carried out, because they follow a call whose outcome is unknown. */
  behind: readonly ToolAnswer[];
  /** The last turn, when some of its tool calls have no result yet, and the results that are known. */
  unfinished?: UnfinishedTurn;
  /** Set if the task made no progress and has not taken its last turn. */
  idle?: RecordedLimit;
}>;

/**
 * A turn with tool calls that have no result yet. `limit`: the turn was the last turn, after the task had reached this
 * limit.
 */
export type UnfinishedTurn = Readonly<{
  turn: AnsweredTurn;
  known: ReadonlyMap<string, ToolAnswer>;
  limit?: RecordedLimit;
}>;

/**
 * Rebuilds a conversation from its events, after the messages with which it began. Messages that were replaced by a
 * summary stay replaced. Recorded turns and calls are not repeated. A tool with effects that was running at the
 * interruption may have had its effect: its outcome is unknown, and it is not repeated.
 */
export function rebuildConversation(past: readonly KeptEvent[], begin: readonly Message[] = []): RebuiltConversation {
  const rebuilding = new Rebuilding(begin);
  for (const event of past) rebuilding.take(event);
  return rebuilding.end();
}

/** A turn whose tool calls are answered by the events that follow. */
type OpenAnswers = { turn: AnsweredTurn; known: Map<string, ToolAnswer>; limit?: RecordedLimit };

/** A conversation while its events are read. */
class Rebuilding {
  readonly #messages: Message[];
  readonly #used: Record<string, number> = {};
  readonly #mail: string[] = [];
  readonly #files: string[] = [];
  /** The calls whose unknown outcome was reported before. */
  readonly #reported = new Set<string>();
  /** The calls of tools with effects that have not ended. */
  readonly #underWay = new Map<string, ToolAnswer>();
  #spent: Readonly<{ usage: Usage; cost: Cost }> = { usage: noUsage(), cost: noCost() };
  #shortened = false;
  #turns = 0;
  /** True while the last turn has no complete answer. */
  #isAsked = false;
  #unanswered: OpenTurn | undefined;
  #open: OpenAnswers | undefined;
  #limit: RecordedLimit | undefined;
  #idle: RecordedLimit | undefined;

  constructor(begin: readonly Message[]) {
    this.#messages = [...begin];
  }

  take(event: KeptEvent): void {
    switch (event.type) {
      case "message.sent":
        this.#mail.push(fill(prompts.message, new Map(Object.entries({ from: event.from, text: event.text }))));
        break;
      case "turn.started":
        this.#ask(event);
        break;
      case "turn.partial":
        if (this.#unanswered)
          this.#unanswered = { ...this.#unanswered, chars: this.#unanswered.chars + event.text.length };
        break;
      case "turn.restarted":
        this.#spend(event);
        this.#unanswered = undefined;
        break;
      case "context.compacted":
        this.#compact(event);
        break;
      case "node.parked":
        this.#unanswered = undefined;
        break;
      case "turn.ended":
        this.#answer(event);
        break;
      case "limit.reached":
        this.#reach(event);
        break;
      default:
        this.#takeCall(event);
    }
  }

  end(): RebuiltConversation {
    this.#cutOff();
    const behind = this.#open ? behindUnknown(this.#open, this.#underWay) : [];
    for (const answer of behind) this.#know(answer);
    return {
      messages: this.#messages,
      shortened: this.#shortened,
      turns: this.#isAsked ? Math.max(0, this.#turns - 1) : this.#turns, // an incomplete model turn is repeated, so it is not counted
      ...this.#spent,
      used: this.#used,
      mail: this.#mail,
      files: this.#files,
      unknown: [...this.#underWay.values()].filter(({ id }) => !this.#reported.has(id)),
      behind,
      ...defined({ unfinished: this.#open, idle: this.#idle }),
    };
  }

  /** Takes the events of tool calls. */
  #takeCall(event: KeptEvent): void {
    switch (event.type) {
      case "tool.started":
        addCount(this.#used, event.tool);
        if (event.effect !== "write") break;
        this.#underWay.set(event.call, unknownOutcome(event.call, event.tool));
        this.#know(unknownOutcome(event.call, event.tool));
        break;
      case "tool.ended":
        this.#underWay.delete(event.call);
        this.#files.push(...(event.files ?? []));
        this.#know({ id: event.call, name: event.tool, text: event.text, error: event.error });
        break;
      case "tool.unknown":
        this.#reported.add(event.call);
        break;
      case "tool.rejected":
        this.#know({ id: event.call, name: event.tool, text: event.text, error: true });
        break;
      case "tool.denied":
        this.#know({ id: event.call, name: event.tool, text: event.text, error: true, denied: true });
        break;
      default:
        break;
    }
  }

  #ask({ turn, reserved }: EventOf<"turn.started">): void {
    this.#close();
    this.#underWay.clear();
    this.#readMail();
    this.#turns = turn;
    this.#isAsked = true;
    this.#cutOff();
    this.#unanswered = { reserved, chars: 0 };
  }

  #answer(event: EventOf<"turn.ended">): void {
    const { text, calls, usage, cost, carry } = event;
    this.#messages.push({ role: "assistant", text, calls, ...defined({ carry }) });
    this.#isAsked = false;
    this.#unanswered = undefined;
    this.#spend(event);
    this.#open = { turn: { text, calls, usage, cost }, known: new Map(), ...defined({ limit: this.#limit }) };
    this.#idle = undefined;
  }

  #compact(event: EventOf<"context.compacted">): void {
    this.#close();
    this.#readMail();
    const shorter = summarised(withShorterResults(this.#messages, event.cut), event);
    this.#messages.splice(0, this.#messages.length, ...shorter);
    this.#files.push(...(event.cut ?? []).flatMap(({ file }) => file ?? []));
    this.#shortened ||= event.summary !== undefined;
    this.#unanswered = undefined;
  }

  #reach({ limit: name, text, enforced, reached }: EventOf<"limit.reached">): void {
    if (enforced) this.#limit = { name, text, ...defined({ reached }) };
    if (name === "STUCK" || name === "DENIED") this.#idle = this.#limit; // limits are checked again anyway
  }

  /** Ends the turn before: its tool results, or the request for a result, are the next message. */
  #close(): void {
    if (!this.#open) return;
    const { turn, known } = this.#open;
    if (turn.calls.length > 0)
      this.#messages.push({
        role: "tool",
        results: turn.calls.map((call) => known.get(call.id) ?? notCarriedOut(call)),
      });
    else this.#messages.push({ role: "user", text: prompts.remindFinish });
    this.#open = undefined;
  }

  #readMail(): void {
    for (const text of this.#mail.splice(0)) this.#messages.push({ role: "user", text });
  }

  #know(answer: ToolAnswer): void {
    this.#open?.known.set(answer.id, answer);
  }

  /** Counts a request whose answer never came. */
  #cutOff(): void {
    if (this.#unanswered) this.#spend(cutTurn(this.#unanswered));
    this.#unanswered = undefined;
  }

  #spend({ usage, cost }: Readonly<{ usage: Partial<Usage>; cost: Cost }>): void {
    this.#spent = { usage: addUsage(this.#spent.usage, usage), cost: addCost(this.#spent.cost, cost) };
  }
}

type EventOf<K extends KeptEvent["type"]> = Extract<KeptEvent, { type: K }>;

/** Messages of which a summary replaces some. */
export function summarised(
  messages: readonly Message[],
  { summary, replaced = 0 }: Readonly<{ summary?: string; replaced?: number }>,
): readonly Message[] {
  if (summary === undefined) return messages;
  const told: Message = { role: "user", text: fill(prompts.summaryFollows, new Map([["summary", summary]])) };
  return messages.toSpliced(1, replaced, told);
}

/** Messages with a shorter text of some tool results. */
export function withShorterResults(
  messages: readonly Message[],
  cut: readonly Readonly<{ call: string; text: string }>[] = [],
): readonly Message[] {
  const texts = new Map(cut.map(({ call, text }) => [call, text]));
  const shorter = (result: ToolAnswer): ToolAnswer => ({ ...result, text: texts.get(result.id) ?? result.text });
  return texts.size === 0
    ? messages
    : messages.map((message) =>
        message.role === "tool" && message.results.some(({ id }) => texts.has(id))
          ? { ...message, results: message.results.map(shorter) }
          : message,
      );
}

const notCarriedOut = ({ id, name }: { id: string; name: string }): ToolAnswer => ({
  id,
  name,
  text: "This call was not carried out.",
  error: true,
});

/**
 * The calls of a turn without a result that follow a call whose outcome is unknown: they may depend on it. In the last
 * turn of a task, its result is still accepted.
 */
function behindUnknown(
  { turn: { calls }, known, limit }: Pick<UnfinishedTurn, "turn" | "known" | "limit">,
  underWay: ReadonlyMap<string, ToolAnswer>,
): ToolAnswer[] {
  const first = calls.findIndex(({ id }) => underWay.has(id));
  if (first < 0 || limit !== undefined) return [];
  const text = `This call was not carried out: it follows a call of ${calls[first]!.name} whose outcome is unknown. Check that outcome, then repeat the call if it is still needed.`;
  return calls
    .slice(first + 1)
    .filter(({ id, name }) => !known.has(id) || isFinishTool(name))
    .map(({ id, name }) => ({ id, name, text, error: true }));
}

function unknownOutcome(id: string, name: string): ToolAnswer {
  return {
    id,
    name,
    text: `OUTCOME UNKNOWN: ${name} was running when the run was interrupted. It may or may not have taken effect, and it was not repeated. Check before you continue.`,
    error: true,
  };
}
