import type { Message, ToolAnswer } from "../../core/model/model.ts";
import type { ReachedLimit } from "../../core/outcome/reached-limit.ts";
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
  idle?: PastLimit;
}>;

/**
 * A turn with tool calls that have no result yet. `limit`: the turn was the last turn, after the task had reached this
 * limit.
 */
export type UnfinishedTurn = Readonly<{
  turn: AnsweredTurn;
  known: ReadonlyMap<string, ToolAnswer>;
  limit?: PastLimit;
}>;

/** A limit that was reached before the interruption; in an old journal there may be only its name. */
export type PastLimit = Readonly<{ name: string; text: string; reached?: ReachedLimit }>;

/**
 * Rebuilds a conversation from its events, after the messages with which it began. Messages that were replaced by a
 * summary stay replaced. Recorded turns and calls are not repeated. A tool with effects that was running at the
 * interruption may have had its effect: its outcome is unknown, and it is not repeated.
 */
export function rebuildConversation(past: readonly KeptEvent[], begin: readonly Message[] = []): RebuiltConversation {
  const messages: Message[] = [...begin];
  let shortened = false;
  const used: Record<string, number> = {};
  let usage = noUsage();
  let cost = noCost();
  let turns = 0;
  let asked = false;
  const mail: string[] = [];
  const files: string[] = [];
  const told = new Set<string>();
  const underWay = new Map<string, ToolAnswer>();
  let open: { turn: AnsweredTurn; known: Map<string, ToolAnswer>; limit?: PastLimit } | undefined;
  let limit: PastLimit | undefined;
  let idle: PastLimit | undefined;
  let unanswered: OpenTurn | undefined;
  const spend = (more: { readonly usage: Partial<Usage>; readonly cost: Cost }): void => {
    usage = addUsage(usage, more.usage);
    cost = addCost(cost, more.cost);
  };
  const cutOff = (): void => {
    if (unanswered) spend(cutTurn(unanswered));
    unanswered = undefined;
  };
  const close = (): void => {
    if (!open) return;
    const { turn, known } = open;
    if (turn.calls.length > 0)
      messages.push({ role: "tool", results: turn.calls.map((call) => known.get(call.id) ?? notCarriedOut(call)) });
    else messages.push({ role: "user", text: prompts.remindFinish });
    open = undefined;
  };
  for (const event of past) {
    switch (event.type) {
      case "message.sent":
        mail.push(
          fill(
            prompts.message,
            new Map([
              ["from", event.from],
              ["text", event.text],
            ]),
          ),
        );
        break;
      case "turn.started":
        close();
        underWay.clear();
        for (const text of mail.splice(0)) messages.push({ role: "user", text });
        turns = event.turn;
        asked = true;
        cutOff();
        unanswered = { reserved: event.reserved, chars: 0 };
        break;
      case "turn.partial":
        if (unanswered) unanswered = { ...unanswered, chars: unanswered.chars + event.text.length };
        break;
      case "turn.restarted":
        spend(event);
        unanswered = undefined;
        break;
      case "context.compacted":
        close();
        for (const text of mail.splice(0)) messages.push({ role: "user", text });
        messages.splice(0, messages.length, ...summarised(withShorterResults(messages, event.cut), event));
        files.push(...(event.cut ?? []).flatMap(({ file }) => file ?? []));
        shortened ||= event.summary !== undefined;
        unanswered = undefined;
        break;
      case "node.parked":
        unanswered = undefined;
        break;
      case "turn.ended":
        messages.push({
          role: "assistant",
          text: event.text,
          calls: event.calls,
          ...defined({ carry: event.carry }),
        });
        asked = false;
        unanswered = undefined;
        spend(event);
        open = {
          turn: { text: event.text, calls: event.calls, usage: event.usage, cost: event.cost },
          known: new Map(),
          ...defined({ limit }),
        };
        idle = undefined;
        break;
      case "limit.reached":
        if (event.enforced) limit = { name: event.limit, text: event.text, ...defined({ reached: event.reached }) };
        if (event.limit === "STUCK" || event.limit === "DENIED") idle = limit; // limits are checked again anyway
        break;
      case "tool.started":
        addCount(used, event.tool);
        if (event.effect === "write") {
          const unknown = unknownOutcome(event.call, event.tool);
          open?.known.set(event.call, unknown);
          underWay.set(event.call, unknown);
        }
        break;
      case "tool.ended":
        underWay.delete(event.call);
        files.push(...(event.files ?? []));
        open?.known.set(event.call, { id: event.call, name: event.tool, text: event.text, error: event.error });
        break;
      case "tool.unknown":
        told.add(event.call);
        break;
      case "tool.rejected":
        open?.known.set(event.call, { id: event.call, name: event.tool, text: event.text, error: true });
        break;
      case "tool.denied":
        open?.known.set(event.call, { id: event.call, name: event.tool, text: event.text, error: true, denied: true });
        break;
      default:
        break;
    }
  }
  cutOff();
  const behind = open ? behindUnknown(open, underWay) : [];
  for (const answer of behind) open?.known.set(answer.id, answer);
  return {
    messages,
    shortened,
    turns: asked ? Math.max(0, turns - 1) : turns, // an incomplete model turn is repeated, so it is not counted
    usage,
    cost,
    used,
    mail,
    files,
    unknown: [...underWay.values()].filter(({ id }) => !told.has(id)),
    behind,
    ...defined({ unfinished: open, idle }),
  };
}

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
