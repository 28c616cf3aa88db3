import { cutHead } from "../core/cut.ts";
import type { Background, Delegated, Parent, Tells } from "../core/engine.ts";
import { isCrewError } from "../core/error.ts";
import { endingOf } from "../core/ending.ts";
import { refsOf } from "../core/graph.ts";
import type { AnyInput } from "../core/input.ts";
import { explain, failed, type Failed, type Outcome } from "../core/outcome.ts";
import type { Node, Plan } from "../core/plan.ts";
import { following, stopped, type Follower } from "./cancel.ts";
import { nowhere } from "./fill-in.ts";
import type { Started } from "./history.ts";
import type { Place, Scope } from "./scope.ts";
import { Slots } from "./slots.ts";
import { tell } from "./tell.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** A task's slot, and what it may start below itself. */
export type Delegation = Readonly<{
  /** Begins an attempt with the slot in hand; false when the task was cancelled first. */
  begin(): Promise<boolean>;
  /** Ends the attempt: stops what was started in it and waits until that has ended. */
  end(): Promise<void>;
  /** Gives the slot back until the next attempt. */
  letGo(): void;
  delegate(what: AnyInput | Plan, parent: Parent, stop?: AbortSignal): Promise<Delegated>;
  /** Tells the task which helpers of an earlier life nobody has asked for again: they did not come to an end. */
  lost(): void;
  /** The same without waiting; what it came to is told to the task. */
  background: Background;
  /** Waits until helpers in the background have ended; false when there are none, or the signal aborted first. */
  news(signal: AbortSignal): Promise<boolean>;
}>;

/**
 * Runs plans under the path of the task that asks: `lead/scout`, and `lead.2/scout` the second time.
 *
 * The task's slot is free while it waits. A lead that kept its slot while its helpers queue for one would hang
 * every run whose depth reaches the number of slots.
 */
export function createDelegation({
  path,
  scope,
  signal,
  held,
}: Pick<Place, "path" | "scope" | "signal" | "held">): Delegation {
  const children = new Set<Promise<unknown>>();
  let places: Places | undefined;
  /** Most tasks start nothing: what the plans below them follow is made for the first one. */
  let attempt: { follower?: Follower } | undefined;
  let waitsFor = 0;
  let taking: Promise<void> | undefined;

  const letGo = (): void => {
    held.slot?.();
    held.slot = undefined;
  };
  /** A slot may come when it is no longer wanted: the attempt is over, or waits for children again. */
  const take = async (): Promise<void> => {
    const taken = await scope.slots.take(signal);
    taking = undefined;
    if (attempt && waitsFor === 0 && !held.slot && !signal.aborted) held.slot = taken;
    else taken?.();
  };
  const hold = async (): Promise<void> => {
    if (!attempt || waitsFor > 0 || held.slot) return;
    taking ??= take();
    await taking;
  };

  const begin = async (): Promise<boolean> => {
    attempt = {};
    await hold();
    if (held.slot && !signal.aborted) return true;
    await end();
    return false;
  };
  const end = async (): Promise<void> => {
    const over = attempt;
    attempt = undefined;
    if (!over?.follower) return;
    over.follower.controller.abort(stopped(ENDED));
    over.follower.release();
    await Promise.allSettled(children);
  };

  const launch = async (
    what: AnyInput | Plan,
    parent: Parent,
    stop: AbortSignal | undefined,
  ): Promise<Launched | Failed | Cancelled> => {
    const depth = scope.depth + 1;
    if (scope.run.maxDepth >= 0 && depth > scope.run.maxDepth) {
      return failed("DENIED", `"${path}" is ${scope.depth} deep and may not start agents below it.`, {
        hint: "Raise maxDepth if this is meant.",
      });
    }
    const plan = planned(() => scope.run.compile(what));
    if ("status" in plan) return plan;
    const tasks = Object.values(plan.nodes).filter(({ kind }) => kind === "task").length;
    for (let task = 0; task < tasks; task += 1) {
      const refusal = await scope.run.budget.count("maxSpawns");
      if (refusal)
        return failed("BUDGET", `"${path}" may not start more agents: ${refusal.refused}.`, {
          hint: "Allow more with --max-spawns.",
        });
    }
    if (!attempt) return { status: "cancelled", reason: ENDED };
    attempt.follower ??= following(signal);
    places ??= placesBelow(path, scope);
    const { controller, release: unfollow } = following(attempt.follower.controller.signal, ...(stop ? [stop] : []));
    waitsFor += 1;
    letGo();
    const prefix = places.claim(plan);
    const work = scope.run.execute(plan, {
      ...withoutRound(scope),
      prefix,
      roots: [plan.output],
      outer: nowhere,
      slots: plan.concurrency === undefined ? scope.slots : new Slots(plan.concurrency, scope.slots),
      ceiling: parent.ceiling,
      ...(parent.policy && { policy: parent.policy }),
      ...(parent.worktree && { worktree: parent.worktree }),
      parentModel: parent.model,
      caller: path,
      signal: controller.signal,
      depth,
    });
    children.add(work);
    const ended = async (): Promise<Delegated> => {
      try {
        const { outcome, outcomeOf } = await work;
        return { ...endingOf(outcome, outcomeOf), under: prefix, nodes: outcomesOf(plan, outcomeOf) };
      } finally {
        children.delete(work);
        unfollow();
        waitsFor -= 1;
        await hold();
      }
    };
    return { plan, under: prefix, ended: ended() };
  };
  const delegate: Delegation["delegate"] = async (what, parent, stop) => {
    const launched = await launch(what, parent, stop);
    return "ended" in launched ? launched.ended : launched;
  };
  const lost = (): void => {
    places ??= placesBelow(path, scope);
    const left = places.left();
    if (left.length > 0) tell(scope.run, path, { from: path, text: lostText(left) });
  };
  const helpers = createHelpers({ path, run: scope.run, launch });
  return { begin, end, letGo, delegate, lost, ...helpers };
}

type Launched = Readonly<{ plan: Plan; under: string; ended: Promise<Delegated> }>;
type Cancelled = Extract<Outcome, { status: "cancelled" }>;
type Launch = (what: AnyInput | Plan, parent: Parent, stop: AbortSignal) => Promise<Launched | Failed | Cancelled>;

/** Helpers that a task started without waiting for them. */
function createHelpers({
  path,
  run,
  launch,
}: Readonly<{ path: string; run: Scope["run"]; launch: Launch }>): Pick<Delegation, "background" | "news"> {
  type Helper = { readonly ended: Promise<Delegated>; readonly controller: AbortController; over: boolean };
  const helpers = new Map<string, Helper>();
  return {
    background: {
      start: async (what, parent, tells) => {
        const controller = new AbortController();
        const launched = await launch(what, parent, controller.signal);
        if (!("ended" in launched))
          return launched.status === "failed" ? launched : failed("DENIED", `It was not started: ${launched.reason}.`);
        const { under, plan } = launched;
        const ended = launched.ended.then((delegated) => {
          helper.over = true;
          tell(run, path, { from: under + plan.output, text: endingText(delegated, tells) });
          return delegated;
        });
        ended.catch(() => {}); // whoever waits for it hears of it
        const helper: Helper = { ended, controller, over: false };
        helpers.set(under, helper);
        const files = Object.keys(plan.nodes).flatMap((id) =>
          run.outputFile ? [[id, run.outputFile(under + id)] as const] : [],
        );
        return { key: under, under, files: Object.fromEntries(files) };
      },
      ended: async (under, signal) => {
        const helper = helpers.get(under);
        return helper && unlessAborted(helper.ended, signal);
      },
      stop: async (under, reason) => {
        const helper = helpers.get(under);
        if (!helper || helper.over) return false;
        helper.controller.abort(stopped(reason));
        return true;
      },
    },
    news: async (signal) => {
      const working = [...helpers.values()].filter(({ over }) => !over);
      if (working.length === 0) return false;
      return (await unlessAborted(Promise.race(working.map(({ ended }) => ended)), signal)) !== undefined;
    },
  };
}

/** What a task is told when its helpers have ended. */
function endingText(delegated: Delegated, tells: Tells): string {
  const nodes = Object.entries(delegated.nodes ?? {});
  const lines = nodes.map(([id, { status }]) => `${delegated.under}${id}: ${status}`);
  if (tells === "ending") return `Ended in the background:\n${lines.join("\n")}`;
  const { text, cut } = cutHead("output" in delegated && delegated.output ? delegated.output : explain(delegated));
  const file = nodes.map(([, outcome]) => outcome.file).find((one) => one !== undefined);
  return `${lines.join("\n")}\n\n${text}${cut && file !== undefined ? `\n\n... [cut, full output: ${file}]` : ""}`;
}

const ENDED = "the task that asked for it has ended";

/**
 * Where each plan below a task goes. After a crash a task asks again, perhaps in another order, so a plan takes the
 * place in which the same one was begun before; any other gets a number that was never used.
 */
function placesBelow(path: string, { run }: Scope): Places {
  const before = [...run.history.delegated(path)];
  let last = Math.max(0, ...before.map(({ number }) => number));
  return {
    claim: (plan) => {
      const known = before.findIndex(
        ({ spent, started }) =>
          !spent && [...started].every(([id, event]) => isSame(plan.nodes[id], event, run.redact)),
      );
      if (known >= 0) return before.splice(known, 1)[0]!.prefix;
      last += 1;
      return last === 1 ? `${path}/` : `${path}.${last}/`;
    },
    left: () => {
      const unclaimed = before.splice(0).filter(({ spent }) => !spent);
      const tasks = unclaimed.flatMap(({ prefix, started }) => [...started.keys()].map((id) => prefix + id));
      return tasks.filter((task) => (run.history.ended(task)?.status ?? "cancelled") === "cancelled");
    },
  };
}

type Places = Readonly<{
  claim(plan: Plan): string;
  /** The tasks of plans that nobody has claimed and that have not ended; from then on nobody can. */
  left(): string[];
}>;

const lostText = (tasks: readonly string[]): string =>
  `The run was interrupted while helpers of yours worked in the background, and these have not ended: ${tasks.join(", ")}. Start them again if you still need them.`;

function isSame(node: Node | undefined, { kind, agent, prompt }: Started, redact: (text: string) => string): boolean {
  if (node?.kind !== kind) return false;
  if (node.kind !== "task") return true;
  return node.task.agent === agent && (redact(node.task.prompt) === prompt || Object.keys(refsOf(node)).length > 0);
}

/** Each node of a plan that came to something. */
function outcomesOf({ nodes }: Plan, outcomeOf: (id: string) => Outcome | undefined): Record<string, Outcome> {
  return Object.fromEntries(
    Object.keys(nodes).flatMap((id) => {
      const outcome = outcomeOf(id);
      return outcome ? [[id, outcome]] : [];
    }),
  );
}

/** What a model asked for wrongly is its failure, not the run's. */
function planned(compile: () => Plan): Plan | Failed {
  try {
    return compile();
  } catch (error) {
    if (!isCrewError(error)) throw error;
    return failed("AGENT_REPORTED", error.message, { hint: error.hint });
  }
}

function withoutRound({ round: _round, ...scope }: Scope): Scope {
  return scope;
}
