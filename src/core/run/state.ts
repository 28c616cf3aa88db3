import { isUndecided, type Outcome } from "../outcome/outcome.ts";
import { addCost, addUsage, type Cost, noCost, noUsage, type Usage } from "../outcome/usage.ts";
import type { Answer } from "../plan/gate.ts";
import { nodeAt, topNodeOf, withDependents } from "../plan/graph.ts";
import type { Plan } from "../plan/plan.ts";
import type { Permissions } from "../policy/permissions.ts";
import { planAfter } from "../schedule/change.ts";
import { createMarkedNodes } from "../schedule/marked-nodes.ts";
import { countMove, isSteady, waitsForNothing } from "../schedule/moves.ts";
import { defined } from "../text/defined.ts";
import { cutTurn, type OpenTurn } from "./cut-turn.ts";
import type { Event, Origin, Parking, ParkRules, RunLimits, RecordedSettings } from "./event.ts";
import { waitingText } from "./kept-event.ts";
import { ownEntry } from "../text/json.ts";

/** The state of one node of a run, as far as its events tell. */
export type NodeView = {
  readonly path: string;
  kind: "task" | "gate" | "loop" | "join";
  label: string;
  /** The first line of the prompt or question of this node. */
  asked?: string;
  agent: string | undefined;
  model: string | undefined;
  status: "running" | Outcome["status"];
  attempt: number;
  /** The current activity of the node, in words. */
  doing: string;
  /** Text of the current model turn so far. */
  text: string;
  /** Why the node is parked, that is, waits before its next turn. */
  parked: Parking | undefined;
  /** The recorded part of an incomplete answer. */
  partial: string;
  /** The text of the last completed model turn. */
  said: string;
  /** The current model turn, for estimating its usage if it is cut off. */
  open: OpenTurn | undefined;
  /** How many turns the task may take, and how long it may work. */
  limits: Readonly<{ maxTurns: number; maxTimeMs: number }> | undefined;
  tools: Readonly<Record<string, number>>;
  /** The number of the loop round that the node is in, or of the plan that its parent task started; absent: 1. */
  order?: Readonly<{ of: "round" | "helper"; number: number }> | undefined;
  /** How many tool calls of the node are running. */
  calling: number;
  usage: Usage;
  cost: Cost;
  startedAt: number;
  endedAt: number | undefined;
  outcome: Outcome | undefined;
  /** The earlier task whose result was reused, and its cost. */
  reused?: Readonly<{ from: string; usage: Usage; cost: Cost }>;
  /** The open question, the tool call that it is about, and whether it needs an answer in words. */
  question: string | undefined;
  call: string | undefined;
  wants?: "words" | undefined;
  /** True: the answer may let the command use the network. */
  offersNetwork?: true | undefined;
  askedAt: number | undefined;
  /** The answer to the last question. */
  answer: Answer | undefined;
};

/** A change that a rule or a person refused, or that nobody could be asked about. */
export type RefusedChange = Readonly<{
  task: string;
  tool: string;
  /** The path, the command or the address that the call is about. */
  target: string;
  rule: string;
  /** What the user can do to allow the call. */
  hint?: string;
  /** True: nobody could be asked. */
  unasked?: true;
}>;

/** The state of a run, computed from its events. It has one owner, and `reduce` changes it in place. */
export type State = {
  run: string;
  name: string | undefined;
  plan: Plan | undefined;
  cwd: string;
  /** The task of an earlier run whose conversation this run continues. */
  continues: string | undefined;
  /** The remote caller that started the run. */
  origin: Origin | undefined;
  /** The permissions of the run's agents when the run began. */
  permissions: Permissions | undefined;
  status: "starting" | "running" | "paused" | Outcome["status"];
  outcome: Outcome | undefined;
  /** Why the run is paused. */
  pausedFor: string | undefined;
  /** The limits of the run. */
  limits: RunLimits | undefined;
  /** The settings that the run began with. */
  settings: RecordedSettings | undefined;
  /**
   * Whether the run's tasks park (wait) instead of failing when they reach a limit or a provider refuses requests;
   * absent in older journals.
   */
  parks: ParkRules | undefined;
  /** True: no key of a provider was found when the run began, so it used the offline model. */
  offline: true | undefined;
  readonly nodes: Map<string, NodeView>;
  /** The nodes of the plan that were resumed, if not all of them were. */
  only: ReadonlySet<string> | undefined;
  /** Changes that were refused and not made later in the run, by tool and target. */
  readonly refused: Map<string, RefusedChange>;
  /** The keys of these changes by the calls that are being carried out. */
  readonly changing: Map<string, string>;
  usage: Usage;
  cost: Cost;
  startedAt: number;
  endedAt: number | undefined;
  /** Time of the last event; 0 before the first event. */
  lastAt: number;
  /** Sequence number of the last event that this state includes. */
  seq: number;
  readonly warnings: string[];
};

/** The initial state of a run. */
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
    offline: undefined,
    nodes: new Map(),
    only: undefined,
    refused: new Map(),
    changing: new Map(),
    usage: noUsage(),
    cost: noCost(),
    startedAt: 0,
    endedAt: undefined,
    lastAt: 0,
    seq: 0,
    warnings: [],
  };
}

/** Applies one event to the state; used by logs, screen, web page and resume. */
export function reduce(state: State, event: Event): State {
  if ("seq" in event) {
    state.seq = event.seq;
    state.lastAt = event.at;
  }
  if (isSteady(event)) return foldSteady(state, viewOf(state, event), event);
  countMove(state);
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
      state.offline = event.offline;
      state.parks = event.parks;
      state.startedAt = event.at;
      state.status = "running";
      break;
    case "run.ended":
      cutOffAll(state);
      state.outcome = event.outcome;
      state.status = event.outcome.status;
      state.endedAt = event.at;
      break;
    case "run.paused":
      return pause(state, event.reason);
    case "run.resumed":
      cutOffAll(state);
      reopen(state);
      if (event.task !== undefined && state.plan) leaveOut(state, state.plan, event.task);
      state.limits = event.limits ?? state.limits ?? {};
      state.parks = event.parks ?? state.parks;
      break;
    case "warning":
      state.warnings.push(event.text);
      break;
    case "below.ended":
      spend(state, viewOf(state, event), event);
      break;
    case "turn.ended": // an event of the run itself, not of a node
    case "turn.restarted":
      spend(state, viewOf(state, event), event);
      foldNode(viewOf(state, event), event);
      break;
    case "plan.changed":
      if (state.plan) state.plan = planAfter(state.plan, event.change);
      if (state.plan && state.only) state.only = withDependents(state.plan, ...state.only);
      break;
    case "note":
    case "agent.resolved":
      break;
    default:
      if (state.status !== "running" && event.type === "node.started") reopen(state);
      // Events of the run itself have an empty path: they do not belong to a node.
      if (event.path === "") break;
      if (event.type === "node.started") begunNodes.add(state, viewOf(state, event));
      if (event.type === "node.started" && isLeftOut(state, event.path)) takeIn(state, event.path);
      if (MAKES_WAIT.has(event.type)) waitingNodes.add(state, viewOf(state, event));
      if (CUTS_OFF.has(event.type)) cutOff(state, viewOf(state, event), event);
      foldChange(state, event);
      foldNode(viewOf(state, event), event);
  }
  return state;
}

/**
 * Applies an event of a type that is frequent. Text that grows is handled first, because most events are of that type.
 */
function foldSteady(state: State, view: NodeView, event: Event): State {
  const waited = !waitsForNothing(view);
  if (event.type === "text.delta") {
    view.text += event.text;
    view.doing = "writing";
  } else {
    if (event.type === "turn.started") cutOff(state, view, event);
    else if (event.type === "turn.ended") spend(state, view, event);
    foldChange(state, event);
    foldNode(view, event);
  }
  if (waited) countMove(state); // these event types end a wait and never begin one
  return state;
}

function spend(state: State, view: NodeView, { usage, cost }: Readonly<{ usage: Partial<Usage>; cost: Cost }>): void {
  state.usage = addUsage(state.usage, usage);
  state.cost = addCost(state.cost, cost);
  view.usage = addUsage(view.usage, usage);
  view.cost = addCost(view.cost, cost);
}

/** Events, besides the start of another turn, after which an unfinished model turn cannot complete. */
const CUTS_OFF: ReadonlySet<Event["type"]> = new Set(["node.started", "node.retried", "node.ended"]);

/** Counts a model turn that was cut off with estimated usage, unless the provider refused it before any output. */
function cutOff(state: State, view: NodeView, event: Event): void {
  if (!view.open) return;
  const outcome = "outcome" in event ? event.outcome : undefined;
  const refused = outcome?.status === "failed" && outcome.fault.code.startsWith("MODEL_") && view.open.chars === 0;
  if (!refused) spendCut(state, view, view.open);
  view.open = undefined;
}

/** Adds the estimated usage of a cut-off turn to the sums, if anything was spent. */
function spendCut(state: State, view: NodeView, open: OpenTurn): void {
  if (open.chars > 0 || (open.reserved?.input ?? 0) > 0) spend(state, view, cutTurn(open));
}

/** Counts unfinished model turns as cut off, for a run whose process died. */
export function cutOffAll(state: State): State {
  for (const view of state.nodes.values()) {
    if (view.open) spendCut(state, view, view.open);
    view.open = undefined;
  }
  return state;
}

function pause(state: State, reason: string): State {
  cutOffAll(state);
  state.status = "paused";
  state.pausedFor = reason;
  return state;
}

/** Resets an ended run that continues: skipped and cancelled nodes wait again. */
function reopen(state: State): void {
  state.status = "running";
  state.pausedFor = undefined;
  state.outcome = undefined;
  state.endedAt = undefined;
  state.only = undefined;
  for (const [path, view] of state.nodes) if (view.outcome && isUndecided(view.outcome)) state.nodes.delete(path);
}

/** Marks the nodes that do not continue because only one task was resumed. They ask their questions again later. */
function leaveOut(state: State, plan: Plan, task: string): void {
  state.only = withDependents(plan, task);
  for (const view of nodesUnderWay(state)) {
    if (!isLeftOut(state, view.path)) continue;
    view.parked = undefined;
    view.question = undefined;
    view.calling = 0;
    view.doing = `waiting for ${LEFT_OUT}`;
  }
}

/** A task that was left out has started, because a person retried it. */
function takeIn(state: State, path: string): void {
  if (state.plan && state.only) state.only = withDependents(state.plan, ...state.only, topNodeOf(state.plan, path));
}

/** True for a node that does not continue before the rest of the run is resumed. */
export const isLeftOut = ({ plan, only }: State, path: string): boolean =>
  only !== undefined && plan !== undefined && !only.has(topNodeOf(plan, path));

/** The thing that nodes which are left out wait for. */
export const LEFT_OUT = "the rest of the run to be resumed";

/**
 * The initial tool counts of every node; all nodes share this object, because it is replaced and never changed in
 * place.
 */
const NO_TOOLS: NodeView["tools"] = Object.freeze({});
const NO_USAGE = Object.freeze(noUsage());
const NO_COST = Object.freeze(noCost());

function viewOf(state: State, { path, at }: Event): NodeView {
  const known = state.nodes.get(path);
  if (known) return known;
  // Nodes that never start are known only from the plan.
  const planned = state.plan && nodeAt(state.plan, path);
  const task = planned?.kind === "task" ? planned.task : undefined;
  const view: NodeView = {
    path,
    kind: planned?.kind ?? "join",
    label: task?.label ?? path,
    ...defined({ order: orderOf(state, path) }),
    agent: task?.agent,
    model: undefined,
    status: "running",
    attempt: 0,
    doing: "",
    text: "",
    parked: undefined,
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
  begunNodes.add(state, view);
  state.nodes.set(path, view);
  countMove(state);
  return view;
}

const begunNodes = createMarkedNodes<NodeView>();
const waitingNodes = createMarkedNodes<NodeView>();
const MAKES_WAIT: ReadonlySet<Event["type"]> = new Set(["gate.opened", "node.parked"]);
/**
 * The nodes that have started and not ended. Ended nodes are removed from the list, so that they need not be checked
 * after each event.
 */
export const nodesUnderWay = (state: State): NodeView[] => [
  ...begunNodes.still(state, ({ status }) => status === "running"),
];

/**
 * True while a node waits for a person, or is parked. This is called for every event, so it checks only such nodes.
 */
export const hasWaitingNode = (state: State): boolean => waitingNodes.still(state, waitsNow).size > 0;

/** True for a node that waits for a person, or is parked. */
export const waitsNow = ({ parked, question }: NodeView): boolean => (parked ?? question) !== undefined;

/**
 * The number of the loop round, or of the delegated plan, that a path is in: `build.2/review` is in round 2 of a loop,
 * `lead.2/scout` in the second plan that a task delegates.
 */
function orderOf(state: State, path: string): NodeView["order"] {
  const [, above = "", number] = /^(.*)\.(\d+)\/[^/]*$/.exec(path) ?? [];
  if (number === undefined || Number(number) < 2) return undefined;
  const kind = state.nodes.get(above)?.kind;
  if (kind === undefined) return undefined;
  return { of: kind === "loop" ? "round" : "helper", number: Number(number) };
}

/** Adds a refused change, and removes it when a later call of the same tool makes it. */
function foldChange({ refused, changing }: State, event: Event): void {
  if (event.type === "tool.started" && event.target !== undefined)
    changing.set(`${event.path}#${event.call}`, `${event.tool} ${event.target}`);
  if (event.type === "tool.ended") {
    const change = changing.get(`${event.path}#${event.call}`);
    changing.delete(`${event.path}#${event.call}`);
    if (change !== undefined && !event.error) refused.delete(change);
  }
  if (event.type !== "tool.denied" || event.target === undefined) return;
  const { path: task, tool, target, rule, hint, unasked } = event;
  refused.set(`${tool} ${target}`, { task, tool, target, rule, ...defined({ hint, unasked }) });
}

function foldNode(view: NodeView, event: Event): void {
  switch (event.type) {
    case "node.started":
      view.kind = event.kind;
      view.label = event.label ?? view.path;
      if (event.prompt !== undefined) view.asked = firstLine(event.prompt);
      view.agent = event.agent;
      view.status = "running";
      view.attempt = event.attempt;
      view.parked = undefined;
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
      view.open = undefined; // nothing was spent: the provider refused the turn, or it was never sent
      view.doing = `parked: ${event.why}`;
      break;
    case "node.unparked":
      view.parked = undefined;
      view.doing = event.why;
      break;
    case "node.reused":
      view.doing = `reused from ${event.from}`;
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
      view.question = undefined;
      view.model = event.outcome.model ?? view.model;
      break;
    case "turn.started":
      view.model = event.model;
      view.limits = event.limits ?? view.limits;
      view.text = "";
      view.partial = "";
      view.open = { reserved: event.reserved, chars: 0 };
      view.question = undefined; // a task that asks the model again no longer waits for an answer
      view.doing = "thinking";
      break;
    case "turn.partial":
      view.partial += event.text;
      if (view.open) view.open = { ...view.open, chars: view.open.chars + event.text.length };
      break;
    case "turn.restarted":
      view.text = "";
      view.partial = "";
      view.doing = "asking the provider again";
      view.open = undefined;
      break;
    case "context.compacted":
      view.open = undefined; // nothing was spent: the provider refused the turn, because the prompt was too long
      break;
    case "turn.ended":
      view.text = event.text;
      view.said = event.text || view.said;
      view.partial = "";
      view.open = undefined;
      break;
    case "tool.started":
      view.tools = { ...view.tools, [event.tool]: (ownEntry(view.tools, event.tool) ?? 0) + 1 };
      view.doing = `${event.tool} ${event.preview}`.trimEnd();
      view.calling += 1;
      break;
    case "tool.ended":
      view.calling = Math.max(0, view.calling - 1);
      break;
    case "gate.opened":
      view.question = event.question;
      view.call = event.call;
      view.wants = event.wants;
      view.offersNetwork = event.offersNetwork;
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

/** The first line of a text, at most 200 characters of it. */
export const firstLine = (text: string): string => text.trimStart().split("\n", 1)[0]!.slice(0, 200);
