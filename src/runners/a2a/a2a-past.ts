import type { KeptEvent } from "../../core/run/event.ts";
import type { ProviderData, Message } from "../../core/model/model.ts";
import { type RemoteIds, type RemoteState, remoteStates } from "../../core/net/a2a.ts";
import { addCost, addUsage, type Cost, noCost, noUsage, type Usage } from "../../core/outcome/usage.ts";
import { isRecord } from "../../core/text/json.ts";

/** The name of this runner in recorded events. */
const CARRIED_BY = "a2a";

/** The state of a conversation with a remote agent, rebuilt from the journal. */
export type RemoteProgress = Readonly<{
  ids: RemoteIds;
  turns: number;
  usage: Usage;
  cost: Cost;
  /** The last message, and the state of the task at that time. */
  last?: Readonly<{ text: string; state: RemoteState }>;
  /** A person's answer that was given but not sent yet: the text to send next. */
  answered?: string;
  /**
   * Set when the process stopped while a message was being sent. `joined`: the message belonged to a remote task that
   * was already known.
   */
  underWay?: "sent" | "joined";
}>;

/** Data that is stored with each answer, so that the next message continues the same remote task. */
export function carryOf(ids: RemoteIds, state: RemoteState): ProviderData {
  return { by: CARRIED_BY, data: { ...ids, state } };
}

/**
 * The state of a new conversation, or of a conversation that continues an earlier task. The ids are used only for this
 * conversation.
 */
export function standingOf(past: readonly KeptEvent[], before: readonly Message[] = []): RemoteProgress {
  const carried = before
    .flatMap((message) => (message.role === "assistant" && message.carry ? [message.carry] : []))
    .at(-1);
  let at: RemoteProgress = { ids: carriedIn(carried)?.ids ?? {}, turns: 0, usage: noUsage(), cost: noCost() };
  for (const event of past) {
    switch (event.type) {
      case "turn.started":
        at = { ...without(at), turns: event.turn, underWay: "sent" };
        break;
      case "remote.joined":
        at = {
          ...at,
          ids: { ...(event.context && { contextId: event.context }), ...(event.task && { taskId: event.task }) },
          ...(event.task && { underWay: "joined" }),
        };
        break;
      case "turn.ended": {
        const known = carriedIn(event.carry);
        at = {
          ...without(at),
          ids: known?.ids ?? at.ids,
          usage: addUsage(at.usage, event.usage),
          cost: addCost(at.cost, event.cost),
          last: { text: event.text, state: known?.state ?? "completed" },
        };
        break;
      }
      case "gate.answered":
        if (event.call?.startsWith(INPUT) && event.answer.approve) at = { ...at, answered: textOfAnswer(event.answer) };
        break;
      default:
        break;
    }
  }
  return at;
}

/**
 * The prefix of ids of questions from a remote agent. Each question has its own id, so an answer never counts for
 * another.
 */
export const INPUT = "input-";

/** The text to send for an answer; a bare approval is sent as yes. */
export const textOfAnswer = ({ text }: Readonly<{ text?: string | undefined }>): string => text?.trim() || "yes";

function without({ underWay: _underWay, answered: _answered, ...rest }: RemoteProgress): RemoteProgress {
  return rest;
}

function carriedIn(carry: ProviderData | undefined): { ids: RemoteIds; state: RemoteState } | undefined {
  if (carry?.by !== CARRIED_BY || !isRecord(carry.data)) return undefined;
  const { contextId, taskId, state } = carry.data;
  return {
    ids: {
      ...(typeof contextId === "string" && { contextId }),
      ...(typeof taskId === "string" && { taskId }),
    },
    state: remoteStates.find((each) => each === state) ?? "unknown",
  };
}
