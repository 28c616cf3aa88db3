import type { BudgetSpent } from "./budget.ts";
import type { KeptEvent } from "./event.ts";
import { isWaiting } from "./run-status.ts";
import { cutOffAll, emptyState, reduce } from "./state.ts";

/** How much of its limits a recorded run has used, and how long its tasks worked. */
export function budgetSpent(events: readonly KeptEvent[]): BudgetSpent & Readonly<{ ms: number }> {
  const state = emptyState("");
  const closing = new Set<string>();
  const helpers = new Set<string>();
  let turns = 0;
  let toolCalls = 0;
  let below = 0;
  let ms = 0;
  let before: Readonly<{ at: number; works: boolean }> | undefined;
  for (const event of events) {
    if (before?.works && event.type !== "run.resumed")
      ms = Math.max(ms, ms + event.at - before.at - (event.jumped ?? 0));
    reduce(state, event);
    const works = changesWork.has(event.type) ? !isWaiting(state) : (before?.works ?? true);
    before = { at: event.at, works };
    switch (event.type) {
      case "node.started":
        closing.delete(event.path);
        if (event.kind === "task" && isHelper(event.path, state.nodes)) helpers.add(event.path);
        break;
      case "limit.reached":
        if (event.enforced) closing.add(event.path); // the last turn of a task at its limit is not counted
        break;
      case "turn.ended":
        if (!closing.has(event.path)) turns += 1;
        break;
      case "tool.started":
        toolCalls += 1;
        break;
      case "below.ended":
        turns += event.usage.turns;
        toolCalls += event.toolCalls;
        below += event.spawns;
        break;
      default:
        break;
    }
  }
  const { usage, cost } = cutOffAll(state);
  const exact = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return {
    tokens: exact + (usage.estimated ?? 0),
    usd: cost.usd + (cost.estimated ?? 0),
    maxTurns: turns,
    maxToolCalls: toolCalls,
    maxSpawns: helpers.size + below,
    ms,
  };
}

/** Types of events after which all tasks of a run may be waiting, or a waiting task may work again. */
export const changesWork: ReadonlySet<string> = new Set([
  "run.started",
  "run.resumed",
  "node.started",
  "node.ended",
  "gate.opened",
  "gate.answered",
  "node.parked",
  "node.unparked",
]);

/** True for a task that an agent started: the part before its last slash is a task, and not a round of a loop. */
function isHelper(path: string, nodes: ReadonlyMap<string, Readonly<{ kind: string }>>): boolean {
  const cut = path.lastIndexOf("/");
  if (cut < 0) return false;
  const above = path.slice(0, cut);
  const kind = (nodes.get(above) ?? nodes.get(above.replace(/\.\d+$/, "")))?.kind;
  return kind === "task";
}
