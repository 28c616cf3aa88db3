import { compactedText } from "../../core/view/transcript.ts";
import { extractToolArgsPreview } from "../../core/task/preview.ts";
import type { Event } from "../../core/run/event.ts";
import { deniedText } from "../../core/run/kept-event.ts";
import type { NodeView, State } from "../../core/run/state.ts";
import { isRecord } from "../../core/text/json.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { fit, lastRow, pad, widthOf } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import { nodeTitle } from "../../core/view/nodes.ts";
import { counted, terminalLine, took } from "../../core/view/words.ts";
import type { Boxes } from "../boxes.ts";
import { outputLines } from "../markdown/output-lines.ts";
import type { Highlight, MarkdownOptions } from "../markdown/options.ts";
import { createMarkdownStream } from "../markdown/stream.ts";
import { endedCallLines, runningCallRows, type ShownCall } from "./tool-lines.ts";

/** One answer of an agent on a terminal: final lines, and rows that still change. */
export type AnswerView = Readonly<{
  /** The lines that an event adds to the scrollback. */
  lines(event: Event, state: State): string[];
  /** At most `most` rows about the current activity. */
  rows(state: State, at: Readonly<{ now: number; tick: number; most: number }>): string[];
  /** The lines to print when the run has ended: the answer, unless it was streamed. */
  end(state: State, output: string): string[];
}>;

export type AnswerViewOptions = Readonly<{
  look: Look;
  columns(): number;
  highlight(): Highlight | undefined;
  /** The boxes for subagents. */
  boxes: Boxes;
  /** Tells whether a tool starts agents; such tool calls have boxes instead of lines. */
  delegates(tool: string): boolean;
  /** False when other code prints the answer; it is then only shown while it grows. */
  prints: boolean;
}>;

/** Shows the main agent of a run. Events must be given in order. */
export function createAnswerView(options: AnswerViewOptions): AnswerView {
  const { look, columns, highlight, boxes, delegates, prints } = options;
  const { colors, signs } = look;
  const drawing = (): MarkdownOptions => ({ look, columns: columns(), highlight: highlight() });
  const stream = createMarkdownStream(drawing);
  const calls = new Map<string, ShownCall>();
  const outputs = new Map<string, string>();
  let streamed = "";
  let answer = "";
  let thought = "";
  let thinkingSince: number | undefined;
  let toldThought = false;
  let spaced = true;
  /** A group of lines with one blank line before it, unless the lines belong to the previous group. */
  const group = (lines: string[], kind: "new" | "same" = "new"): string[] => {
    if (lines.length === 0) return lines;
    const gap = kind === "new" && !spaced && lines[0] !== "" ? [""] : [];
    spaced = lines.at(-1) === "";
    return [...gap, ...lines];
  };
  let last: "text" | "call" | "other" = "other";
  /** The note about a wait before the next model turn; empty when there is none. */
  let noted = "";
  const previews = new Map<string, string>();
  const text = (lines: string[]): string[] => {
    if (!prints) return [];
    const from = last;
    if (lines.length > 0) last = "text";
    return group(lines, from === "text" ? "same" : "new");
  };
  const callLines = (lines: string[]): string[] => {
    const from = last;
    last = "call";
    return group(lines, from === "call" ? "same" : "new");
  };
  const other = (line: string): string[] => {
    last = "other";
    return group([line]);
  };
  const note = (what: string, said: string): string[] => other(`${colors.yellow(`${what}:`)} ${terminalLine(said)}`);
  const settle = (
    call: string,
    tool: string,
    ended: Readonly<{ state: "ok" | "error" | "denied" | "unknown"; text: string; ms?: number; at: number }>,
  ): string[] => {
    const known = calls.get(call) ?? { tool, preview: previews.get(call) ?? "", startedAt: ended.at };
    calls.delete(call);
    previews.delete(call);
    outputs.delete(call);
    if (delegates(tool) && ended.state === "ok") return [];
    return callLines(endedCallLines({ ...known, ...ended, ms: ended.ms }, { look, columns: columns() }));
  };

  const mainLines = (event: Event): string[] => {
    switch (event.type) {
      case "text.delta":
        streamed += event.text;
        return [...thoughtLines(thought, event.at), ...text(stream.push(event.text))];
      case "thinking.delta":
        thinkingSince ??= event.at;
        thought += event.text;
        return [];
      case "turn.restarted": {
        const open = stream.end();
        streamed = "";
        thought = "";
        thinkingSince = undefined;
        return open.length === 0 && answer === ""
          ? []
          : [...text(open), ...note("the model is asked again", event.reason)];
      }
      case "turn.ended": {
        const folded = thoughtLines(thought || (toldThought ? "" : (event.thinking ?? "")), event.at);
        toldThought = false;
        for (const { id, name, input } of event.calls)
          previews.set(id, extractToolArgsPreview(name, isRecord(input) ? input : {}));
        const missing = streamed === "" ? event.text : "";
        const lines = [...text(stream.push(missing)), ...text(stream.end())];
        answer = event.text.trim() === "" ? answer : event.text;
        streamed = "";
        return [...folded, ...lines];
      }
      case "tool.started":
        if (!delegates(event.tool))
          calls.set(event.call, { tool: event.tool, preview: event.preview, startedAt: event.at });
        return [];
      case "tool.delta":
        outputs.set(event.call, `${outputs.get(event.call) ?? ""}${event.text}`.slice(-8_000));
        return [];
      case "tool.ended":
        return settle(event.call, event.tool, {
          state: event.error ? "error" : "ok",
          text: event.text,
          ms: event.ms,
          at: event.at,
        });
      case "tool.denied":
        return settle(event.call, event.tool, { state: "denied", text: deniedText(event), at: event.at });
      case "tool.rejected":
        return settle(event.call, event.tool, { state: "error", text: event.text, at: event.at });
      case "tool.unknown":
        return settle(event.call, event.tool, { state: "unknown", text: event.text, at: event.at });
      case "limit.reached":
        return note("limit", event.text);
      case "context.compacted":
        return other(colors.dim(compactedText(event)));
      case "message.sent":
        return other(colors.dim(`sent now: ${terminalLine(event.text)}`));
      default:
        return [];
    }
  };
  /** One line for a finished thought, printed before the text or tool call that follows it. */
  const thoughtLines = (said: string, now: number): string[] => {
    if (said.trim() === "") return [];
    const time = thinkingSince === undefined ? "" : ` for ${took(now - thinkingSince, look)}`;
    const size = counted(said.trim().split("\n").length, "line");
    thought = "";
    thinkingSince = undefined;
    toldThought = true;
    return other(colors.dim(`${signs.step} thought${time} (${size}; Ctrl-O shows them)`));
  };

  return {
    lines: (event, state) => {
      if (event.type === "warning") return note("warning", event.text);
      if (event.type === "rights.reduced")
        return note("note", `${event.agent} has fewer tools than its file lists: ${event.reason}`);
      if (event.type === "node.parked") return note("waiting", `${event.why}. ${event.helps}`);
      const main = !event.path.includes("/");
      if (main && "seq" in event) noted = event.type === "note" ? event.text : "";
      const own = main ? mainLines(event) : [];
      const box = "seq" in event ? boxes(event, state) : undefined;
      if (box === undefined) return own;
      last = "other";
      return [...own, ...group(box.split("\n"))];
    },
    rows: (state, { now, tick, most }) => {
      const sign = signs.spinner[tick % signs.spinner.length] ?? "";
      const width = columns();
      const open = stream.open().filter((line, index) => index > 0 || line !== "" || last === "text");
      const helpers = runningHelpers(state);
      const fixed = Math.min(helpers.length, 5) + Math.min(calls.size, 3);
      const tail = open.slice(-Math.max(1, most - fixed - 2));
      let left = most - tail.length - Math.min(helpers.length, 5);
      const tools = [...calls].slice(-3).flatMap(([id, call], index, all) => {
        const room = Math.max(1, Math.min(4, left - (all.length - index - 1)));
        const rows = runningCallRows(call, {
          look,
          columns: width,
          now,
          sign,
          output: outputs.get(id) ?? "",
          most: room,
        });
        left -= rows.length;
        return rows;
      });
      const parked = [...state.nodes.values()].find(({ path }) => !path.includes("/"))?.parked;
      const thinking =
        tail.length === 0 && tools.length === 0 && helpers.length === 0 && !isAsking(state)
          ? [
              colors.dim(
                parked
                  ? fit(`${signs.none} waiting: ${terminalLine(parked.why)}`, width, signs.more)
                  : fit(
                      `${sign} ${noted === "" ? activity(thought, streamed) : terminalLine(noted)}`,
                      width,
                      signs.more,
                    ),
              ),
            ]
          : [];
      return [...tail, ...tools, ...helperRows(helpers, { look, width, now, sign }), ...thinking].slice(
        0,
        Math.max(0, most),
      );
    },
    end: (_, output) => {
      const rest = text(stream.end());
      const repeated = sanitize(output).trim() === sanitize(answer).trim() && answer.trim() !== "";
      const shown = repeated || output.trim() === "" ? [] : text(outputLines(output, drawing()));
      answer = "";
      return [...rest, ...shown];
    },
  };
}

/** The text about what the model is doing, while there is nothing else to show. */
function activity(thought: string, streamed: string): string {
  if (thought === "" && streamed !== "") return "writing";
  const line = thought.split("\n").findLast((each) => each.trim() !== "");
  return line === undefined ? "thinking" : `thinking: ${terminalLine(line.slice(-400))}`;
}

/** True when the main agent waits for an answer of the person, who sees the question. */
const isAsking = ({ nodes }: State): boolean =>
  [...nodes.values()].some(({ path, question }) => question !== undefined && !path.includes("/"));

/** The running subagents, at any depth below the main agent. */
function runningHelpers({ nodes }: State): NodeView[] {
  return [...nodes.values()].filter(
    ({ kind, status, path }) => kind === "task" && status === "running" && path.includes("/"),
  );
}

const MOST_HELPERS = 5;

function helperRows(
  helpers: readonly NodeView[],
  { look, width, now, sign }: Readonly<{ look: Look; width: number; now: number; sign: string }>,
): string[] {
  const { colors, signs } = look;
  const shown = helpers.length > MOST_HELPERS ? helpers.slice(0, MOST_HELPERS - 1) : helpers;
  const names = Math.min(Math.floor(width / 3), Math.max(0, ...shown.map((view) => widthOf(nodeTitle(view)))));
  const rows = shown.map((view) => {
    const time = took(now - view.startedAt, look);
    const room = Math.max(0, width - names - time.length - 6);
    const doing = view.doing === "writing" ? lastRow(terminalLine(view.text), room) : terminalLine(view.doing);
    return `${colors.cyan(sign)} ${pad(fit(nodeTitle(view), names, signs.more), names)}  ${colors.dim(pad(fit(doing, room, signs.more), room))} ${colors.dim(time)}`;
  });
  const more = helpers.length - shown.length;
  return more > 0 ? [...rows, colors.dim(`  +${more} more working`)] : rows;
}
