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

/** A run on a terminal: final lines, and rows that still change. */
export type LiveView = Readonly<{
  /** The lines that an event adds to the scrollback. */
  lines(event: Event, state: State): string[];
  /** At most `most` rows about the current activity. */
  rows(state: State, at: ViewMoment): string[];
  /** The lines to print when the run has ended: the answer, unless it was streamed. */
  end(state: State, output: string): string[];
}>;

/** The time, the number of the drawing, which animates the spinner, and the room. */
export type ViewMoment = Readonly<{ now: number; tick: number; most: number }>;

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

type LineKind = "text" | "call" | "other";

/** Puts one blank line between groups of lines. Text follows text, and a call a call, in one group. */
class LineGroups {
  #isSpaced = true;
  #last: LineKind = "other";

  add(kind: LineKind, lines: string[]): string[] {
    if (lines.length === 0) return lines;
    const isSameGroup = kind !== "other" && kind === this.#last;
    const gap = !isSameGroup && !this.#isSpaced && lines[0] !== "" ? [""] : [];
    this.#last = kind;
    this.#isSpaced = lines.at(-1) === "";
    return [...gap, ...lines];
  }

  last(): LineKind {
    return this.#last;
  }
}

type EndedState = Readonly<{ state: "ok" | "error" | "denied" | "unknown"; text: string; ms?: number; at: number }>;

/** Shows the main agent of a run: one answer on a terminal. Events must be given in order. */
export class AnswerView implements LiveView {
  readonly #options: AnswerViewOptions;
  readonly #stream: ReturnType<typeof createMarkdownStream>;
  readonly #groups = new LineGroups();
  readonly #calls = new Map<string, ShownCall>();
  readonly #outputs = new Map<string, string>();
  readonly #previews = new Map<string, string>();
  /** The text of this turn so far, and the text of the last turn that had one. */
  #streamed = "";
  #answer = "";
  #thought = "";
  #thinkingSince: number | undefined;
  #toldThought = false;
  /** The note about a wait before the next model turn; empty when there is none. */
  #noted = "";

  constructor(options: AnswerViewOptions) {
    this.#options = options;
    this.#stream = createMarkdownStream(() => this.#drawing());
  }

  lines(event: Event, state: State): string[] {
    if (event.type === "warning") return this.#note("warning", event.text);
    if (event.type === "rights.reduced")
      return this.#note("note", `${event.agent} has fewer tools than its file lists: ${event.reason}`);
    if (event.type === "node.parked") return this.#note("waiting", `${event.why}. ${event.helps}`);
    const isMain = !event.path.includes("/");
    if (isMain && "seq" in event) this.#noted = event.type === "note" ? event.text : "";
    const own = isMain ? this.#mainLines(event) : [];
    const box = "seq" in event ? this.#options.boxes(event, state) : undefined;
    return box === undefined ? own : [...own, ...this.#groups.add("other", box.split("\n"))];
  }

  rows(state: State, { now, tick, most }: ViewMoment): string[] {
    const { look, columns } = this.#options;
    const sign = look.signs.spinner[tick % look.signs.spinner.length] ?? "";
    const width = columns();
    const helpers = runningHelpers(state);
    const fixed = Math.min(helpers.length, MOST_HELPERS) + Math.min(this.#calls.size, 3);
    const tail = this.#openLines().slice(-Math.max(1, most - fixed - 2));
    const room = most - tail.length - Math.min(helpers.length, MOST_HELPERS);
    const tools = this.#callRows({ now, sign, width, room });
    const isIdle = tail.length === 0 && tools.length === 0 && helpers.length === 0 && !isAsking(state);
    return [
      ...tail,
      ...tools,
      ...helperRows(helpers, { look, width, now, sign }),
      ...(isIdle ? [this.#activityRow(state, sign, width)] : []),
    ].slice(0, Math.max(0, most));
  }

  end(_: State, output: string): string[] {
    const rest = this.#text(this.#stream.end());
    const repeated = sanitize(output).trim() === sanitize(this.#answer).trim() && this.#answer.trim() !== "";
    const shown = repeated || output.trim() === "" ? [] : this.#text(outputLines(output, this.#drawing()));
    this.#answer = "";
    return [...rest, ...shown];
  }

  #drawing(): MarkdownOptions {
    const { look, columns, highlight } = this.#options;
    return { look, columns: columns(), highlight: highlight() };
  }

  #text(lines: string[]): string[] {
    return this.#options.prints ? this.#groups.add("text", lines) : [];
  }

  #note(what: string, said: string): string[] {
    return this.#groups.add("other", [`${this.#options.look.colors.yellow(`${what}:`)} ${terminalLine(said)}`]);
  }

  #dim(text: string): string[] {
    return this.#groups.add("other", [this.#options.look.colors.dim(text)]);
  }

  #mainLines(event: Event): string[] {
    switch (event.type) {
      case "text.delta":
        this.#streamed += event.text;
        return [...this.#thoughtLines(this.#thought, event.at), ...this.#text(this.#stream.push(event.text))];
      case "thinking.delta":
        this.#thinkingSince ??= event.at;
        this.#thought += event.text;
        return [];
      case "turn.restarted":
        return this.#restartedLines(event.reason);
      case "turn.ended":
        return this.#turnLines(event);
      case "tool.started":
        if (!this.#options.delegates(event.tool))
          this.#calls.set(event.call, { tool: event.tool, preview: event.preview, startedAt: event.at });
        return [];
      case "tool.delta":
        this.#outputs.set(event.call, `${this.#outputs.get(event.call) ?? ""}${event.text}`.slice(-8_000));
        return [];
      case "tool.ended": {
        const { error, text, ms, at } = event;
        return this.#callLines(event.call, event.tool, { state: error ? "error" : "ok", text, ms, at });
      }
      case "tool.denied":
        return this.#callLines(event.call, event.tool, { state: "denied", text: deniedText(event), at: event.at });
      case "tool.rejected":
        return this.#callLines(event.call, event.tool, { state: "error", text: event.text, at: event.at });
      case "tool.unknown":
        return this.#callLines(event.call, event.tool, { state: "unknown", text: event.text, at: event.at });
      case "limit.reached":
        return this.#note("limit", event.text);
      case "context.compacted":
        return this.#dim(compactedText(event));
      case "message.sent":
        return this.#dim(`sent now: ${terminalLine(event.text)}`);
      default:
        return [];
    }
  }

  /** The model is asked again, so the text of this turn does not count. */
  #restartedLines(reason: string): string[] {
    const open = this.#stream.end();
    this.#streamed = "";
    this.#thought = "";
    this.#thinkingSince = undefined;
    if (open.length === 0 && this.#answer === "") return [];
    return [...this.#text(open), ...this.#note("the model is asked again", reason)];
  }

  #turnLines({ text, thinking, calls, at }: Extract<Event, { type: "turn.ended" }>): string[] {
    const folded = this.#thoughtLines(this.#thought || (this.#toldThought ? "" : (thinking ?? "")), at);
    this.#toldThought = false;
    for (const { id, name, input } of calls)
      this.#previews.set(id, extractToolArgsPreview(name, isRecord(input) ? input : {}));
    const missing = this.#streamed === "" ? text : "";
    const lines = [...this.#text(this.#stream.push(missing)), ...this.#text(this.#stream.end())];
    this.#answer = text.trim() === "" ? this.#answer : text;
    this.#streamed = "";
    return [...folded, ...lines];
  }

  /** One line for a finished thought, printed before the text or tool call that follows it. */
  #thoughtLines(said: string, now: number): string[] {
    if (said.trim() === "") return [];
    const { look } = this.#options;
    const time = this.#thinkingSince === undefined ? "" : ` for ${took(now - this.#thinkingSince, look)}`;
    const size = counted(said.trim().split("\n").length, "line");
    this.#thought = "";
    this.#thinkingSince = undefined;
    this.#toldThought = true;
    return this.#dim(`${look.signs.step} thought${time} (${size}; Ctrl-O shows them)`);
  }

  #callLines(call: string, tool: string, ended: EndedState): string[] {
    const { look, columns, delegates } = this.#options;
    const known = this.#calls.get(call) ?? { tool, preview: this.#previews.get(call) ?? "", startedAt: ended.at };
    this.#calls.delete(call);
    this.#previews.delete(call);
    this.#outputs.delete(call);
    if (delegates(tool) && ended.state === "ok") return [];
    return this.#groups.add("call", endedCallLines({ ...known, ...ended, ms: ended.ms }, { look, columns: columns() }));
  }

  /** The lines of the text that may still change. */
  #openLines(): string[] {
    const isInText = this.#groups.last() === "text";
    return this.#stream.open().filter((line, index) => index > 0 || line !== "" || isInText);
  }

  #callRows({
    now,
    sign,
    width,
    room,
  }: Readonly<Record<"now" | "width" | "room", number> & { sign: string }>): string[] {
    const { look } = this.#options;
    let left = room;
    return [...this.#calls].slice(-3).flatMap(([id, call], index, all) => {
      const most = Math.max(1, Math.min(4, left - (all.length - index - 1)));
      const output = this.#outputs.get(id) ?? "";
      const rows = runningCallRows(call, { look, columns: width, now, sign, output, most });
      left -= rows.length;
      return rows;
    });
  }

  /** The row that is shown when there is nothing else to show. */
  #activityRow(state: State, sign: string, width: number): string {
    const { colors, signs } = this.#options.look;
    const parked = [...state.nodes.values()].find(({ path }) => !path.includes("/"))?.parked;
    const doing = this.#noted === "" ? activity(this.#thought, this.#streamed) : terminalLine(this.#noted);
    const text = parked ? `${signs.none} waiting: ${terminalLine(parked.why)}` : `${sign} ${doing}`;
    return colors.dim(fit(text, width, signs.more));
  }
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
