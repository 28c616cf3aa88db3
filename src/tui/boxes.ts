import { backgroundStartIn } from "../core/delegation/background-start.ts";
import { explain, type Outcome } from "../core/outcome/outcome.ts";
import type { KeptEvent } from "../core/run/event.ts";
import type { NodeView, State } from "../core/run/state.ts";
import { sanitize } from "../core/text/sanitize.ts";
import { fit, pad, widthOf } from "../core/view/fit.ts";
import type { Look } from "../core/view/look.ts";
import { signFor } from "../core/view/nodes.ts";
import { counted, spentBy, terminalLine } from "../core/view/words.ts";

/** How boxes look, how wide the terminal is right now, and which tools start agents. */
export type BoxOptions = Readonly<{ look: Look; columns(): number; delegates(tool: string): boolean }>;

/** The text to print for an event; `undefined` for an event that a conversation does not show. */
export type Boxes = (event: KeptEvent, state: State) => string | undefined;

/**
 * Shows the agents that the main agent starts: a box when an agent begins, a line when several agents begin, and a box
 * with the result of each agent. Intermediate steps and deeper agents are not shown.
 */
export function createBoxes(options: BoxOptions): Boxes {
  const { colors } = options.look;
  const asked = new Map<string, string>();
  let together = 0;
  return (event, state) => {
    if (event.type === "turn.ended" && !event.path.includes("/")) {
      together = event.calls.filter(({ name }) => options.delegates(name)).length;
      return together > 1 ? colors.cyan(`Starting ${counted(together, "agent")} in parallel`) : undefined;
    }
    if (event.type === "tool.ended" && !event.path.includes("/") && options.delegates(event.tool)) {
      const id = backgroundStartIn(event.details);
      return (
        id &&
        `${colors.cyan(`Task running in background: ${terminalLine(id)}`)}\nYou can continue. /task-status ${terminalLine(id)} shows its progress.`
      );
    }
    const view = state.nodes.get(event.path);
    if (view?.kind !== "task" || event.path.split("/").length !== 2) return undefined;
    if (event.type === "node.started") asked.set(event.path, event.label ?? event.prompt ?? "");
    if (event.type === "agent.resolved" && together < 2)
      return box(
        "Starting an agent",
        [
          ["Agent", event.agent],
          ["Task", asked.get(event.path) ?? ""],
          ["Model", event.model],
        ],
        options,
      );
    if (event.type === "node.ended") return resultBox(view, event.outcome, options);
    return undefined;
  };
}

function resultBox(view: NodeView, outcome: Outcome, options: BoxOptions): string {
  const { look } = options;
  const named = view.label === view.path ? [] : [view.label];
  const found = "output" in outcome ? findingsIn(outcome.output ?? "") : [];
  return box(
    [view.agent ?? view.path.split("/").at(-1)!, ...named].join(": "),
    [
      ["Status", outcome.status === "ok" ? "done" : explain(outcome)],
      ...found.map((line, at) => [at === 0 ? "Found" : "", line] as const),
      ["Spent", spentBy(view, view.endedAt ?? view.startedAt, look)],
    ],
    options,
    signFor(view, look),
  );
}

/** Maximum number of points in a box. */
const MOST_FINDINGS = 5;
const POINT = /^(?:[-*•]|\d{1,3}[.)])\s+/;

/** The main points of a text: its list items, or its first lines if it has no list. */
export function findingsIn(text: string): string[] {
  const lines = sanitize(text)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /[\p{L}\p{N}]/u.test(line) && !line.startsWith("```"));
  const points = lines.filter((line) => POINT.test(line));
  const all = points.length > 0 ? points : lines;
  const shown = all.length > MOST_FINDINGS ? all.slice(0, MOST_FINDINGS - 1) : all;
  const left = all.length - shown.length;
  return [...shown.map((line) => line.replace(POINT, "")), ...(left > 0 ? [`and ${left} more`] : [])];
}

type Row = readonly [name: string, value: string];

const MOST_COLUMNS = 100;
const LEAST_COLUMNS = 24;

/** Draws a frame around rows; a value that does not fit is cut. */
function box(title: string, rows: readonly Row[], { look: { colors, signs }, columns }: BoxOptions, sign = ""): string {
  const [topLeft, topRight, bottomLeft, bottomRight, line, side] = signs.frame;
  const inner = Math.max(LEAST_COLUMNS, Math.min(columns() - 1, MOST_COLUMNS)) - 4;
  const names = Math.max(...rows.map(([name]) => widthOf(name)));
  const room = inner - names - 2;
  const head = fit(terminalLine(title), inner - 3 - (sign === "" ? 0 : 2), signs.more);
  const used = widthOf(head) + (sign === "" ? 0 : 2);
  return [
    `${colors.dim(topLeft + line)} ${sign === "" ? "" : `${sign} `}${head} ${colors.dim(line.repeat(inner - used - 1) + topRight)}`,
    ...rows.map(
      ([name, value]) =>
        `${colors.dim(side)} ${colors.dim(pad(name, names))}  ${pad(fit(terminalLine(value), room, signs.more), room)} ${colors.dim(side)}`,
    ),
    colors.dim(bottomLeft + line.repeat(inner + 2) + bottomRight),
  ].join("\n");
}
