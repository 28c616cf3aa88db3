import { needsOf, nodeAt } from "../plan/graph.ts";
import type { KeptEvent } from "../run/event.ts";
import type { State } from "../run/state.ts";
import type { Look } from "./look.ts";
import { counted, terminalLine, took } from "./words.ts";

/**
 * When a node could have started, when it started and ended, and when in between it waited for a person or a provider.
 */
export type NodeTimes = Readonly<{
  path: string;
  readyAt: number;
  startedAt: number;
  endedAt: number;
  waits: readonly Readonly<{ from: number; to: number }>[];
}>;

/** The times of the nodes that have started, in that order. `until`: the end of nodes that are still running. */
export function nodeTimes(events: readonly KeptEvent[], { plan, startedAt }: State, until: number): NodeTimes[] {
  const begun = new Map<string, number>();
  const ended = new Map<string, number>();
  const waits = new Map<string, { from: number; to: number }[]>();
  const open = new Map<string, { from: number; to: number }>();
  const close = (path: string, at: number): void => {
    const wait = open.get(path);
    if (wait) wait.to = at;
    open.delete(path);
  };
  for (const { type, path, at } of events) {
    if (type === "node.started" && !begun.has(path)) begun.set(path, at);
    if (type === "node.ended") ended.set(path, at);
    if (WAITS.has(type) && !open.has(path)) {
      const wait = { from: at, to: until };
      open.set(path, wait);
      waits.set(path, [...(waits.get(path) ?? []), wait]);
    } else if (!NOTES.has(type)) close(path, at);
  }
  return Array.from(begun, ([path, from]) => {
    const node = plan && nodeAt(plan, path);
    const needs = node && !path.includes("/") ? needsOf(node).map((id) => ended.get(id) ?? startedAt) : [];
    // A subagent is ready as soon as it is requested, which is when it starts.
    const ready = path.includes("/") ? from : Math.max(startedAt, ...needs);
    return {
      path,
      readyAt: Math.min(from, ready),
      startedAt: from,
      endedAt: ended.get(path) ?? until,
      waits: waits.get(path) ?? [],
    };
  });
}

const WAITS: ReadonlySet<KeptEvent["type"]> = new Set(["gate.opened", "node.parked"]);
/** Events that may occur while a node waits and that do not end the wait. */
const NOTES: ReadonlySet<KeptEvent["type"]> = new Set(["warning", "note", "message.sent"]);

const BAR = 16;

/** The timeline as text, one line per node: a bar, and separately the time that it was queued, worked and waited. */
export function timelineText(
  events: readonly KeptEvent[],
  state: State,
  now: number,
  look: Pick<Look, "durations"> = {},
): string {
  const last = state.endedAt ?? now;
  const span = Math.max(1, last - state.startedAt);
  const at = (time: number): number => Math.max(0, Math.min(BAR, Math.round(((time - state.startedAt) / span) * BAR)));
  const long = (ms: number): string => took(ms, look, "spaced").padStart(7);
  const lines = nodeTimes(events, state, last).map(({ path, readyAt, startedAt, endedAt, waits }) => {
    const cells: string[] = Array.from({ length: BAR }, () => " ");
    const fill = (from: number, to: number, sign: string): void => {
      for (let cell = at(from); cell < at(to); cell += 1) cells[cell] = sign;
    };
    fill(readyAt, startedAt, ".");
    fill(startedAt, endedAt, "#");
    if (at(startedAt) === at(endedAt)) cells[Math.min(BAR - 1, at(startedAt))] = "#";
    for (const { from, to } of waits) fill(from, to, "?");
    const waited = waits.reduce((sum, { from, to }) => sum + to - from, 0);
    return `[${cells.join("")}] queued ${long(startedAt - readyAt)}  worked ${long(endedAt - startedAt - waited)}  waited ${long(waited)}  ${terminalLine(path)}`;
  });
  if (lines.length === 0) return "";
  const total = `${took(span, look, "spaced")} in all, ${counted(lines.length, "task")}`;
  return [`. queued  # worked  ? waited for a person or a provider  (${total})`, ...lines].join("\n");
}
