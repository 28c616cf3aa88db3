import type { Outcome } from "../outcome/outcome.ts";
import { addCost, addUsage, type Cost, noCost, noUsage, type Usage } from "../outcome/usage.ts";
import type { Answer } from "../plan/gate.ts";
import { nodeAt } from "../plan/graph.ts";
import type { Plan } from "../plan/plan.ts";
import type { Permissions } from "../policy/permissions.ts";
import { changedPlan } from "../schedule/change.ts";
import { defined } from "../text/defined.ts";
import { cutTurn, type OpenTurn } from "./cut-turn.ts";
import type { Event, Origin, Parking, ParkRules, RunLimits, RecordedSettings } from "./event.ts";

/** What is known about one node. */
export type NodeView = {
  readonly path: string;
  kind: "task" | "gate" | "loop" | "join";
  label: string;
  agent: string | undefined;
  model: string | undefined;
  status: "running" | Outcome["status"];
  attempt: number;
  /** What it is saying or doing right now. */
  doing: string;
  /** The last words of the model in the current turn. */
  text: string;
  /** Why it waits before its next turn. */
  parked: Parking | undefined;
  /** Why it alone is paused. */
  paused: string | undefined;
  /** What is recorded of an answer that has not come to its end. */
  partial: string;
  /** The last words of a turn that came to its end. */
  said: string;
  /** The turn that is under way, for what it counts as when it is cut off. */
  open: OpenTurn | undefined;
  /** How many turns it may take, and how long it may work. */
  limits: Readonly<{ maxTurns: number; maxTimeMs: number }> | undefined;
  tools: Readonly<Record<string, number>>;
  /** How many of its tool calls are under way. */
  calling: number;
  usage: Usage;
  cost: Cost;
  startedAt: number;
  endedAt: number | undefined;
  outcome: Outcome | undefined;
  /** The earlier task whose result it took over, and what that had cost. */
  reused?: Readonly<{ from: string; usage: Usage; cost: Cost }>;
  /** What somebody is asked, and about which call of the task. */
  question: string | undefined;
  call: string | undefined;
  askedAt: number | undefined;
  /** What was said to the last question. */
  answer: Answer | undefined;
};

/** What is known about a run. One owner; `reduce` changes it in place. */
export type State = {
  run: string;
  name: string | undefined;
  plan: Plan | undefined;
  cwd: string;
  /** The task of an earlier run whose conversation this one goes on with. */
  continues: string | undefined;
  /** Who asked for it from outside. */
  origin: Origin | undefined;
  /** What its agents were allowed when it began. */
  permissions: Permissions | undefined;
  status: "starting" | "running" | "paused" | Outcome["status"];
  outcome: Outcome | undefined;
  /** Why it is paused. */
  pausedFor: string | undefined;
  /** What it may use; absent in journals of 0.1. */
  limits: RunLimits | undefined;
  /** What decided how it began. */
  settings: RecordedSettings | undefined;
  /** Whether its tasks wait instead of failing; absent in older journals. */
  parks: ParkRules | undefined;
  readonly nodes: Map<string, NodeView>;
  usage: Usage;
  cost: Cost;
  startedAt: number;
  endedAt: number | undefined;
  /** The number of the last fact that was folded in. */
  seq: number;
  readonly warnings: string[];
};

/** A run of which nothing is known. */
export function emptyState(run: string): State {
  return {
    run,
    name: undefined,
    plan: undefined,
    cwd: "",
    continues: undefined,
    origin: undefined,
    permissions: undefined,
    status: "starting",
    outcome: undefined,
    pausedFor: undefined,
    limits: undefined,
    settings: undefined,
    parks: undefined,
    nodes: new Map(),
    usage: noUsage(),
    cost: noCost(),
    startedAt: 0,
    endedAt: undefined,
    seq: 0,
    warnings: [],
  };
}

/** The only way anybody learns anything: log, screen, page and resume all fold with this. */
export function reduce(state: State, event: Event): State {
  if ("seq" in event) state.seq = event.seq;
  switch (event.type) {
    case "run.started":
      state.plan = event.plan;
      state.name = event.name;
      state.cwd = event.cwd;
      state.continues = event.continues;
      state.permissions = event.permissions;
      state.origin = event.origin;
      state.limits = event.limits;
      state.settings = event.settings;
      state.parks = event.parks;
      state.startedAt = event.at;
      state.status = "running";
      break;
    case "run.ended":
      cutOffAll(state);
      if (isOldStop(state, event)) return pause(state, event.outcome.reason);
      state.outcome = event.outcome;
      state.status = event.outcome.status;
      state.endedAt = event.at;
      break;
    case "run.paused":
      return pause(state, event.reason);
    case "run.resumed":
      cutOffAll(state);
      reopen(state);
      state.limits = event.limits ?? state.limits ?? {};
      state.parks = event.parks ?? state.parks;
      break;
    case "warning":
      state.warnings.push(event.text);
      break;
    case "turn.ended":
    case "turn.restarted":
      spend(state, viewOf(state, event), event);
      foldNode(viewOf(state, event), event);
      break;
    case "plan.changed":
      if (state.plan) state.plan = changedPlan(state.plan, event.change);
      break;
    case "note":
    case "agent.resolved":
      break;
    default:
      if (state.status !== "running" && event.type === "node.started") reopen(state);
      // What is said about the run itself, as when its time is up, is no node.
      if (event.path === "") break;
      if (CUTS_OFF.has(event.type)) cutOff(state, viewOf(state, event), event);
      foldNode(viewOf(state, event), event);
  }
  return state;
}

function spend(state: State, view: NodeView, { usage, cost }: Readonly<{ usage: Partial<Usage>; cost: Cost }>): void {
  state.usage = addUsage(state.usage, usage);
  state.cost = addCost(state.cost, cost);
  view.usage = addUsage(view.usage, usage);
  view.cost = addCost(view.cost, cost);
}

/** Events after which the answer of a turn that is still open cannot come any more. */
const CUTS_OFF: ReadonlySet<Event["type"]> = new Set(["turn.started", "node.started", "node.retried", "node.ended"]);

/** A turn that was cut off is never free, unless its provider refused it before it said a word. */
function cutOff(state: State, view: NodeView, event: Event): void {
  if (!view.open) return;
  const outcome = "outcome" in event ? event.outcome : undefined;
  const refused = outcome?.status === "failed" && outcome.fault.code.startsWith("MODEL_") && view.open.chars === 0;
  if (!refused) spend(state, view, cutTurn(view.open));
  view.open = undefined;
}

/** Counts the turns of a run whose process is gone; their answers will not come. */
export function cutOffAll(state: State): State {
  for (const view of state.nodes.values()) {
    if (view.open) spend(state, view, cutTurn(view.open));
    view.open = undefined;
  }
  return state;
}

function pause(state: State, reason: string): State {
  cutOffAll(state);
  for (const [path, { outcome }] of state.nodes) {
    if (outcome?.status === "cancelled" && outcome.reason === reason) state.nodes.delete(path); // a stop of 0.1
  }
  state.status = "paused";
  state.pausedFor = reason;
  return state;
}

/** 0.1 ended a run that was stopped as cancelled; its journals do not say what the run may use. */
function isOldStop(
  state: State,
  event: Extract<Event, { type: "run.ended" }>,
): event is typeof event & { outcome: Extract<Outcome, { status: "cancelled" }> } {
  return state.limits === undefined && event.outcome.status === "cancelled";
}

/** A run that ended and goes on again is running until it says otherwise; who was skipped or cancelled waits again. */
function reopen(state: State): void {
  state.status = "running";
  state.pausedFor = undefined;
  state.outcome = undefined;
  state.endedAt = undefined;
  for (const [path, view] of state.nodes) {
    if (view.outcome && isUndecided(view.outcome)) state.nodes.delete(path);
    view.paused = undefined; // the whole run goes on; what does not is told again
  }
}

/** True for an end that is decided again when the run is resumed. */
export const isUndecided = (outcome: Outcome): boolean =>
  outcome.status === "skipped" || (outcome.status === "cancelled" && outcome.final !== true);

/** Where every node begins; shared, since each is replaced and never written to. */
const NO_TOOLS: NodeView["tools"] = Object.freeze({});
const NO_USAGE = Object.freeze(noUsage());
const NO_COST = Object.freeze(noCost());

function viewOf(state: State, { path, at }: Event): NodeView {
  const known = state.nodes.get(path);
  if (known) return known;
  // What never starts, because it is skipped or cancelled before, is known from the plan alone.
  const planned = state.plan && nodeAt(state.plan, path);
  const task = planned?.kind === "task" ? planned.task : undefined;
  const view: NodeView = {
    path,
    kind: planned?.kind ?? "join",
    label: task?.label ?? path,
    agent: task?.agent,
    model: undefined,
    status: "running",
    attempt: 0,
    doing: "",
    text: "",
    parked: undefined,
    paused: undefined,
    partial: "",
    said: "",
    open: undefined,
    limits: undefined,
    tools: NO_TOOLS,
    calling: 0,
    usage: NO_USAGE,
    cost: NO_COST,
    startedAt: at,
    endedAt: undefined,
    outcome: undefined,
    question: undefined,
    call: undefined,
    askedAt: undefined,
    answer: undefined,
  };
  state.nodes.set(path, view);
  return view;
}

function foldNode(view: NodeView, event: Event): void {
  switch (event.type) {
    case "node.started":
      view.kind = event.kind;
      view.label = event.label ?? view.path;
      view.agent = event.agent;
      view.status = "running";
      view.attempt = event.attempt;
      view.parked = undefined;
      view.paused = undefined;
      view.calling = 0;
      view.startedAt = event.at;
      view.endedAt = undefined;
      view.outcome = undefined;
      view.doing = "starting";
      break;
    case "node.waiting":
      view.doing = waitingText(event.for);
      break;
    case "node.parked":
      view.parked = {
        why: event.why,
        waitsFor: event.waitsFor,
        helps: event.helps,
        ...defined({ until: event.until, nextTry: event.nextTry }),
      };
      view.open = undefined; // the provider refused it, or it was never sent
      view.doing = `parked: ${event.why}`;
      break;
    case "node.unparked":
      view.parked = undefined;
      view.doing = event.why;
      break;
    case "node.paused":
      view.paused = event.reason;
      view.parked = undefined;
      view.question = undefined; // it is asked again when the task goes on
      view.doing = `paused: ${event.reason}`;
      break;
    case "node.resumed":
      view.paused = undefined;
      view.doing = "";
      break;
    case "node.reused":
      view.doing = `taken over from ${event.from}`;
      view.reused = { from: event.from, ...(event.saved ?? { usage: NO_USAGE, cost: NO_COST }) };
      break;
    case "node.retried":
      view.question = undefined;
      view.doing = `waiting to retry (attempt ${event.attempt + 1})`;
      break;
    case "node.ended":
      view.status = event.outcome.status;
      view.outcome = event.outcome;
      view.endedAt = event.at;
      view.doing = "";
      view.text = "";
      view.partial = "";
      view.parked = undefined;
      view.paused = undefined;
      view.question = undefined;
      view.model = event.outcome.model ?? view.model;
      break;
    case "turn.started":
      view.model = event.model;
      view.limits = event.limits ?? view.limits;
      view.text = "";
      view.partial = "";
      view.open = { reserved: event.reserved, chars: 0 };
      view.question = undefined; // nobody waits for an answer any more who asks the model again
      view.doing = "thinking";
      break;
    case "text.delta":
      view.text += event.text;
      view.doing = "writing";
      break;
    case "turn.partial":
      view.partial += event.text;
      if (view.open) view.open = { ...view.open, chars: view.open.chars + event.text.length };
      break;
    case "turn.restarted":
      view.text = "";
      view.partial = "";
      view.doing = "asking again";
      view.open = undefined;
      break;
    case "context.compacted":
      view.open = undefined; // its provider refused it: the prompt was too long
      break;
    case "turn.ended":
      view.text = event.text;
      view.said = event.text || view.said;
      view.partial = "";
      view.open = undefined;
      break;
    case "tool.started":
      view.tools = { ...view.tools, [event.tool]: (view.tools[event.tool] ?? 0) + 1 };
      view.doing = `${event.tool} ${event.preview}`.trimEnd();
      view.calling += 1;
      break;
    case "tool.ended":
      view.calling = Math.max(0, view.calling - 1);
      break;
    case "gate.opened":
      view.question = event.question;
      view.call = event.call;
      view.askedAt = event.at;
      view.doing = "waiting for an answer";
      break;
    case "gate.answered":
      view.question = undefined;
      view.answer = event.answer;
      break;
    default:
      break;
  }
}

/** `waiting for api (src/**)`: who holds the files that a task is to write. */
export function waitingText(blockers: readonly Readonly<{ task: string; files: readonly string[] }>[]): string {
  return `waiting for ${blockers.map(({ task, files }) => `${task} (${files.join(", ")})`).join(", ")}`;
}
