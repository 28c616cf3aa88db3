import type { Fault, Outcome } from "../outcome/outcome.ts";
import type { Cost, Usage } from "../outcome/usage.ts";
import { defined } from "../text/defined.ts";
import type { State } from "./state.ts";

/** What a run came to: the fold of its events, and nothing else. */
export type Result = Readonly<{
  id: string;
  status: "ok" | "failed" | "cancelled";
  output: string;
  data?: unknown;
  /** The nodes whose output it is: of a race the winner. */
  from?: readonly string[];
  /** False: it holds work that was taken although nobody approved it. */
  approved?: boolean;
  /** Why it failed. */
  fault?: Fault;
  usage: Usage;
  cost: Cost;
  ms: number;
  nodes: Readonly<Record<string, Outcome>>;
  /** Where the full outputs lie, by path. */
  files: Readonly<Record<string, string>>;
}>;

/** The result of a run that has ended. */
export function resultOf(state: State): Result {
  const nodes: [string, Outcome][] = [];
  const files: [string, string][] = [];
  for (const { path, outcome } of state.nodes.values()) {
    if (!outcome) continue;
    nodes.push([path, outcome]);
    if (outcome.file) files.push([path, outcome.file]);
  }
  const outcome: Outcome = state.outcome ?? { status: "cancelled", reason: "the run has not ended" };
  return {
    id: state.run,
    status: outcome.status === "skipped" ? "failed" : outcome.status,
    output: "output" in outcome ? (outcome.output ?? "") : "",
    ...("data" in outcome && outcome.data !== undefined && { data: outcome.data }),
    ...(outcome.status === "ok" && defined({ from: outcome.from })),
    ...defined({ approved: outcome.approved }),
    ...(outcome.status === "failed" && { fault: outcome.fault }),
    usage: state.usage,
    cost: state.cost,
    ms: Math.max(0, (state.endedAt ?? state.startedAt) - state.startedAt),
    nodes: Object.fromEntries(nodes),
    files: Object.fromEntries(files),
  };
}
