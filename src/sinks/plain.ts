import { explain, type Outcome } from "../core/outcome/outcome.ts";
import type { KeptEvent } from "../core/run/event.ts";
import { waitingText } from "../core/run/kept-event.ts";
import { parkedUntil } from "../core/run/parked-run.ts";
import type { NodeView, State } from "../core/run/state.ts";
import type { Look } from "../core/view/look.ts";
import { nodeTitle, progressOf } from "../core/view/nodes.ts";
import { counted, spentBy, terminalLine, took } from "../core/view/words.ts";

/**
 * The log line for an event; `undefined` for an event that is not logged. It never contains sequences that move the
 * terminal's cursor. The state may be ahead of the event, so `named` remembers the tasks whose limits were logged.
 */
export function lineFor(event: KeptEvent, state: State, look: Look, named: Set<string>): string | undefined {
  const view = state.nodes.get(event.path);
  const name = view ? nodeTitle(view) : terminalLine(event.path);
  const say = (word: keyof typeof shades, ...parts: readonly string[]): string => {
    const text = parts.filter((part) => part !== "").join("  ");
    return `${look.colors[shades[word]](word.padEnd(6))}  ${text}`;
  };
  switch (event.type) {
    case "run.started":
      return say(
        "run",
        event.run,
        [event.name === undefined ? "" : terminalLine(event.name), counted(progressOf(state).total, "task")]
          .filter(Boolean)
          .join(", "),
      );
    case "node.started":
      return event.kind === "task" ? say("start", name, event.attempt > 1 ? `try ${event.attempt}` : "") : undefined;
    case "node.waiting":
      return say("wait", name, terminalLine(waitingText(event.for)));
    case "node.retried":
      return say("retry", name, `in ${took(event.delayMs, look)}: ${terminalLine(explain(event.outcome))}`);
    case "node.ended":
      return view && view.kind !== "join" && view.kind !== "loop" ? endOf(event.outcome, view, look, say) : undefined;
    case "run.paused":
      return say("pause", terminalLine(event.reason));
    case "run.resumed":
      return say(
        "resume",
        event.task === undefined ? "" : `only ${terminalLine(event.task)}`,
        `after ${counted(event.after, "event")}`,
      );
    case "node.parked":
      return say(
        "park",
        name,
        [terminalLine(event.why), parkedUntil(event), terminalLine(event.helps)].filter(Boolean).join("  "),
      );
    case "node.unparked":
      return say("go on", name, terminalLine(event.why));
    case "turn.started":
      return event.limits ? limitsOf(event.limits, name, named, { look, say }) : undefined;
    case "turn.restarted":
      return say("again", name, `in ${took(event.delayMs, look)}: ${terminalLine(event.reason)}`);
    case "node.reused":
      return say("reuse", name, `the result of ${terminalLine(event.from)}`);
    case "tool.denied":
      return event.hint === undefined
        ? say("denied", name, `${terminalLine(event.tool)}: ${terminalLine(event.rule)}`)
        : `${say("denied", name, terminalLine(event.text.replace(/^DENIED: /, "")))}\n        ${terminalLine(event.hint)}`;
    case "tool.rejected":
      return say("reject", name, `${terminalLine(event.tool)}: ${terminalLine(event.reason)}`);
    case "tool.unknown":
      return say(
        "unknown",
        name,
        `${terminalLine(event.tool)} was running when the run was interrupted; check its effect`,
      );
    case "rights.reduced": {
      const lost = event.lost.length === 0 ? "" : ` without ${event.lost.map(terminalLine).join(", ")}`;
      return say("rights", name, `${terminalLine(event.agent)} works${lost}: ${terminalLine(event.reason)}`);
    }
    case "conversation.forked":
      return say("fork", name, `starts from the conversation of ${terminalLine(event.from)}, turn ${event.turn}`);
    case "limit.reached":
      return say("limit", name, terminalLine(event.text));
    case "gate.opened":
      return say("ask", name, "waits for an answer");
    case "gate.answered":
      return say("answer", name, answerOf(event.answer));
    case "message.sent":
      return say("said", name, `${terminalLine(event.from)}: ${terminalLine(event.text)}`);
    case "warning":
      return say("warn", name, terminalLine(event.text));
    case "note":
      return say("note", name, terminalLine(event.text));
    default:
      return undefined;
  }
}

/** The limits of a task, unless they were logged before: `limit  up to 100 turns and 30m for each task`. */
function limitsOf(
  { maxTurns, maxTimeMs }: Readonly<{ maxTurns: number; maxTimeMs: number }>,
  name: string,
  named: Set<string>,
  { look, say }: Readonly<{ look: Look; say: Say }>,
): string | undefined {
  const text = `up to ${counted(maxTurns, "turn")} and ${took(maxTimeMs, look)}`;
  if (named.has(text)) return undefined;
  const isFirst = named.size === 0;
  named.add(text);
  return isFirst ? say("limit", `${text} for each task`) : say("limit", name, text);
}

type Say = (word: keyof typeof shades, ...parts: readonly string[]) => string;

function endOf(outcome: Outcome, view: NodeView, look: Look, say: Say): string {
  const name = nodeTitle(view);
  if (outcome.status === "ok")
    return say("ok", name, view.kind === "gate" ? "" : spentBy(view, view.endedAt ?? 0, look));
  if (outcome.status === "skipped") return say("skip", name, `${terminalLine(outcome.because)} did not succeed`);
  if (outcome.status === "cancelled") return say("cancel", name, terminalLine(outcome.reason));
  const hint = outcome.fault.hint === undefined ? "" : `\n        ${terminalLine(outcome.fault.hint)}`;
  return `${say("failed", name, terminalLine(outcome.fault.message))}${hint}`;
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
  const words = text.trim() === "" ? "" : `: ${terminalLine(text)}`;
  return `${approve ? "approved" : "rejected"}${by === undefined ? "" : ` by ${terminalLine(by)}`}${words}`;
}

/** The first words of lines, and their colours. */
const shades = {
  run: "dim",
  start: "cyan",
  ok: "green",
  failed: "red",
  skip: "yellow",
  cancel: "yellow",
  retry: "yellow",
  wait: "dim",
  pause: "yellow",
  resume: "dim",
  park: "yellow",
  "go on": "cyan",
  again: "yellow",
  reuse: "dim",
  denied: "yellow",
  reject: "yellow",
  unknown: "yellow",
  fork: "dim",
  rights: "yellow",
  limit: "yellow",
  warn: "yellow",
  ask: "magenta",
  answer: "magenta",
  said: "magenta",
  note: "dim",
} as const;
