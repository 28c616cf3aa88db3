import { exitCodeOf, type Fault, type Outcome } from "../outcome/outcome.ts";
import type { ReachedLimit } from "../outcome/reached-limit.ts";
import type { Cost, Usage } from "../outcome/usage.ts";
import { defined } from "../text/defined.ts";
import type { RefusedChange, State } from "./state.ts";

/**
 * The result of a run, computed from its events. `data` has the type of the schema that was passed to the run, once
 * `status` is known to be `ok`.
 */
export type Result<T = unknown> = ResultFields &
  Readonly<
    unknown extends T
      ? { status: Status; data?: unknown }
      : { status: "ok"; data: T } | { status: Exclude<Status, "ok">; data?: unknown }
  >;

type Status = "ok" | "failed" | "cancelled" | "paused";

type ResultFields = Readonly<{
  id: string;
  output: string;
  /** The nodes that produced this output; for a race, the winner. */
  from?: readonly string[];
  /** False: the result contains work that was accepted without approval. */
  approved?: boolean;
  /** The reason for which the run failed. */
  fault?: Fault;
  /** The limit that cut the run short. */
  limit?: ReachedLimit;
  /**
   * True: no key of a provider was found, so the offline model answered. The offline model searches and quotes, but
   * does not reason.
   */
  offline?: true;
  /** Changes that were refused and not made later in the run. */
  refused?: readonly RefusedChange[];
  usage: Usage;
  cost: Cost;
  ms: number;
  nodes: Readonly<Record<string, Outcome>>;
}>;

/**
 * The exit code of a run that has ended. It is 3 when nobody could be asked about a change that was not made later: the
 * answer of a model may say that all is done.
 */
export function exitCodeOfRun({ outcome, refused }: Pick<State, "outcome" | "refused">): number {
  if ([...refused.values()].some(({ unasked }) => unasked)) return 3;
  return exitCodeOf(outcome ?? { status: "cancelled", reason: "" });
}

/** Text of unfinished tasks: the received part of an incomplete answer, else their last message. */
export function partialOf(state: State): string {
  const open = [...state.nodes.values()].filter(({ status }) => status === "running");
  const texts = open.flatMap(({ path, partial, said }) => {
    const text = partial || said;
    return text === "" ? [] : [{ path, text }];
  });
  if (texts.length === 1) return texts[0]!.text;
  return texts.map(({ path, text }) => `## ${path}\n\n${text}`).join("\n\n");
}

/** The result of a run that has ended or is paused. */
export function resultOf(state: State): Result {
  const nodes: [string, Outcome][] = [];
  for (const { path, outcome } of state.nodes.values()) {
    if (!outcome) continue;
    nodes.push([path, outcome]);
  }
  const outcome: Outcome = state.outcome ?? { status: "cancelled", reason: "the run has not ended" };
  return {
    id: state.run,
    status: state.status === "paused" ? "paused" : outcome.status === "skipped" ? "failed" : outcome.status,
    output: "output" in outcome ? (outcome.output ?? "") : partialOf(state),
    ...("data" in outcome && outcome.data !== undefined && { data: outcome.data }),
    ...(outcome.status === "ok" && defined({ from: outcome.from })),
    ...defined({ approved: outcome.approved }),
    ...(outcome.status === "failed" && { fault: outcome.fault }),
    ...(outcome.limit && { limit: outcome.limit }),
    ...defined({ offline: state.offline }),
    ...(state.refused.size > 0 && { refused: [...state.refused.values()] }),
    usage: state.usage,
    cost: state.cost,
    ms: Math.max(0, (state.endedAt ?? state.startedAt) - state.startedAt),
    nodes: Object.fromEntries(nodes),
  };
}
