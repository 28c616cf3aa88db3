import type { KeptEvent, Event } from "../../core/run/event.ts";
import type { NodeView, State } from "../../core/run/state.ts";
import type { Look } from "../../core/view/look.ts";
import { AnswerView, type AnswerViewOptions, type LiveView } from "../chat/answer-view.ts";
import { outputLines } from "../markdown/output-lines.ts";
import { taskRows } from "./run-rows.ts";

export type RunViewOptions = AnswerViewOptions &
  Readonly<{
    /** The line to print for an event; `undefined` for none. */
    told(event: KeptEvent, state: State): string | undefined;
    /** The lines to print when a task of the plan has ended. */
    ended(view: NodeView, look: Look, columns: number): string[];
  }>;

/**
 * Shows a run with one task like a chat answer. A run with several tasks has one row per task, and prints a line when a
 * task ends.
 */
export function createRunView(options: RunViewOptions): LiveView {
  const { look, columns, highlight, told, ended, prints } = options;
  const answer = new AnswerView(options);
  let only: boolean | undefined;
  const isOnly = (state: State): boolean =>
    (only ??= state.plan === undefined ? undefined : hasOneTask(state)) ?? false;
  return {
    lines: (event, state) => {
      const said = "seq" in event ? told(event, state) : undefined;
      const more = said === undefined ? [] : said.split("\n");
      if (isOnly(state)) return [...answer.lines(event, state), ...more];
      const view = endedTask(event, state);
      return [...more, ...(view ? ended(view, look, columns()) : [])];
    },
    rows: (state, at) =>
      isOnly(state) ? answer.rows(state, at) : taskRows(state, { ...at, look, columns: columns() }),
    end: (state, output) => {
      if (isOnly(state)) return answer.end(state, output);
      return prints && output.trim() !== ""
        ? ["", ...outputLines(output, { look, columns: columns(), highlight: highlight() })]
        : [];
    },
  };
}

function hasOneTask({ plan }: State): boolean {
  const nodes = Object.values(plan?.nodes ?? {}).filter(({ kind }) => kind !== "join");
  return nodes.length === 1 && nodes[0]!.kind === "task";
}

/** The task that an event has ended: a task of the plan, or a task in a round of one of its loops. */
function endedTask(event: Event, { nodes }: State): NodeView | undefined {
  if (event.type !== "node.ended") return undefined;
  const view = nodes.get(event.path);
  const helper = event.path.split("/").length > 1 && !/\.\d+\/[^/]*$/.test(event.path);
  return view?.kind === "task" && !helper && !(event.path.includes("/") && view.status === "skipped")
    ? view
    : undefined;
}
