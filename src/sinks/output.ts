import type { NodeView, State } from "../core/run/state.ts";
import { sanitize } from "../core/text/sanitize.ts";
import { nodeTitle, shownNodes } from "../core/view/nodes.ts";

/**
 * The result of a run as text that ends with a newline; may be empty. For a run that ended before its output node, the
 * texts of its tasks, each under its name.
 */
export function outputOfRun(state: State): string {
  const outcome = state.outcome;
  const text = outcome && "output" in outcome ? (outcome.output ?? "") : "";
  const all = shownNodes(state).filter(({ kind }) => kind === "task");
  const whole = outcome?.status === "ok" || all.length === 1 || hasParts(state);
  const shown = sanitize(whole ? text : partsOf(all));
  return shown === "" || shown.endsWith("\n") ? shown : `${shown}\n`;
}

/**
 * True when the output is a failed join: its text already has every part under a heading, including the failed parts.
 */
function hasParts(state: State): boolean {
  const output = state.plan && state.nodes.get(state.plan.output);
  return output?.kind === "join" && output.outcome?.status === "failed" && (output.outcome.output ?? "") !== "";
}

function partsOf(nodes: readonly NodeView[]): string {
  return nodes
    .filter((view) => saidBy(view) !== "")
    .map((view) => `## ${nodeTitle(view)}${view.status === "ok" ? "" : ` (${view.status})`}\n\n${saidBy(view)}`)
    .join("\n\n");
}

function saidBy({ outcome }: NodeView): string {
  return outcome && "output" in outcome ? (outcome.output ?? "").trimEnd() : "";
}
