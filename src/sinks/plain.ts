import { explain, type Outcome } from "../core/outcome/outcome.ts";
import type { KeptEvent } from "../core/run/event.ts";
import type { NodeView, State } from "../core/run/state.ts";
import type { Look } from "./look.ts";
import { nameOf, progressOf } from "./nodes.ts";
import { counted, oneLine, spentBy, took } from "./words.ts";

/** The line that a log gets for an event, if it is one that people want to hear of; no cursor ever moves. */
export function lineFor(event: KeptEvent, state: State, look: Look): string | undefined {
  const view = state.nodes.get(event.path);
  const name = view ? nameOf(view) : oneLine(event.path);
  const say = (word: keyof typeof shades, ...parts: readonly string[]): string => {
    const text = parts.filter((part) => part !== "").join("  ");
    return `${look.colors[shades[word]](word.padEnd(6))}  ${text}`;
  };
  switch (event.type) {
    case "run.started":
      return say(
        "run",
        event.run,
        [event.name === undefined ? "" : oneLine(event.name), counted(progressOf(state).total, "task")]
          .filter(Boolean)
          .join(", "),
      );
    case "node.started":
      return event.kind === "task" ? say("start", name, event.attempt > 1 ? `try ${event.attempt}` : "") : undefined;
    case "node.retried":
      return say("retry", name, `in ${took(event.delayMs)}: ${oneLine(explain(event.outcome))}`);
    case "node.ended":
      return view && view.kind !== "join" && view.kind !== "loop" ? endOf(event.outcome, view, look, say) : undefined;
    case "node.reused":
      return say("reuse", name, `the result of ${oneLine(event.from)}`);
    case "tool.denied":
      return say("denied", name, `${oneLine(event.tool)}: ${oneLine(event.rule)}`);
    case "limit.reached":
      return say("limit", name, oneLine(event.text));
    case "gate.opened":
      return say("ask", name, "waits for an answer");
    case "gate.answered":
      return say("answer", name, answerOf(event.answer));
    case "message.sent":
      return say("said", name, `${oneLine(event.from)}: ${oneLine(event.text)}`);
    case "warning":
      return say("warn", name, oneLine(event.text));
    case "note":
      return say("note", name, oneLine(event.text));
    default:
      return undefined;
  }
}

type Say = (word: keyof typeof shades, ...parts: readonly string[]) => string;

function endOf(outcome: Outcome, view: NodeView, look: Look, say: Say): string {
  const name = nameOf(view);
  if (outcome.status === "ok")
    return say("ok", name, view.kind === "gate" ? "" : spentBy(view, view.endedAt ?? 0, look));
  if (outcome.status === "skipped") return say("skip", name, `${oneLine(outcome.because)} did not succeed`);
  if (outcome.status === "cancelled") return say("cancel", name, oneLine(outcome.reason));
  const hint = outcome.fault.hint === undefined ? "" : `\n        ${oneLine(outcome.fault.hint)}`;
  return `${say("failed", name, oneLine(outcome.fault.message))}${hint}`;
}

function answerOf({
  approve,
  text = "",
  by,
}: {
  approve: boolean;
  text?: string | undefined;
  by?: string | undefined;
}): string {
  const words = text.trim() === "" ? "" : `: ${oneLine(text)}`;
  return `${approve ? "approved" : "rejected"}${by === undefined ? "" : ` by ${oneLine(by)}`}${words}`;
}

/** The words a line can begin with, and their colours. */
const shades = {
  run: "dim",
  start: "cyan",
  ok: "green",
  failed: "red",
  skip: "yellow",
  cancel: "yellow",
  retry: "yellow",
  reuse: "dim",
  denied: "yellow",
  limit: "yellow",
  warn: "yellow",
  ask: "magenta",
  answer: "magenta",
  said: "magenta",
  note: "dim",
} as const;
