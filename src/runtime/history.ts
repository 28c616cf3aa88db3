import type { Answer } from "../core/gate.ts";
import type { Change } from "../core/change.ts";
import type { KeptEvent } from "../core/event.ts";
import type { Outcome } from "../core/outcome.ts";

/** What an earlier life of a run left behind, ready to be looked up by path. */
export type History = Readonly<{
  /** What ended or changed directly below a prefix, in order. */
  under(prefix: string): readonly Replayed[];
  /** The last attempt that was begun, and whether it also ended. */
  attempts(path: string): Readonly<{ begun: number; ended: boolean }>;
  answer(path: string): Answer | undefined;
  /** What was recorded of the attempt that was under way, in order. */
  events(path: string): readonly KeptEvent[];
  /** True when the end of this node is in the journal and stands. */
  ended(path: string): boolean;
}>;

export type Replayed = Readonly<{ type: "ended"; id: string; outcome: Outcome }> | Readonly<{ type: "changed"; change: Change }>;

/** A run without a past. */
export const noHistory: History = {
  under: () => [],
  attempts: () => ({ begun: 0, ended: false }),
  answer: () => undefined,
  events: () => [],
  ended: () => false,
};

/**
 * The history in a journal. Only what was carried out counts: skips, cancellations and failed joins follow from
 * it and are decided again, so that a run that was cancelled goes on where it stopped.
 */
export function historyOf(events: readonly KeptEvent[], { retryFailed = false }: { retryFailed?: boolean } = {}): History {
  const under = new Map<string, Map<string, Replayed>>();
  const attempts = new Map<string, { begun: number; ended: boolean }>();
  const answers = new Map<string, Answer>();
  const kinds = new Map<string, string>();
  const underWay = new Map<string, KeptEvent[]>();
  const list = (prefix: string): Map<string, Replayed> => {
    const known = under.get(prefix) ?? new Map<string, Replayed>();
    under.set(prefix, known);
    return known;
  };
  for (const event of events) {
    if (event.type === "node.started") {
      kinds.set(event.path, event.kind);
      attempts.set(event.path, { begun: event.attempt, ended: false });
      underWay.set(event.path, []);
    }
    underWay.get(event.path)?.push(event);
    if (event.type === "gate.answered") answers.set(event.path, event.answer);
    if (event.type === "plan.changed") list("").set(`change ${event.seq}`, { type: "changed", change: event.change });
    if (event.type !== "node.ended") continue;
    const begun = attempts.get(event.path);
    if (begun) begun.ended = true;
    const { prefix, id } = split(event.path);
    list(prefix).delete(id);
    if (counts(event.outcome, kinds.get(event.path), retryFailed)) list(prefix).set(id, { type: "ended", id, outcome: event.outcome });
    else answers.delete(event.path);
  }
  return {
    under: (prefix) => [...(under.get(prefix)?.values() ?? [])],
    attempts: (path) => attempts.get(path) ?? { begun: 0, ended: false },
    answer: (path) => answers.get(path),
    events: (path) => underWay.get(path) ?? [],
    ended: (path) => {
      const { prefix, id } = split(path);
      return under.get(prefix)?.has(id) ?? false;
    },
  };
}

function counts(outcome: Outcome, kind: string | undefined, retryFailed: boolean): boolean {
  if (outcome.status === "ok") return true;
  return outcome.status === "failed" && kind !== undefined && !retryFailed;
}

function split(path: string): { prefix: string; id: string } {
  const cut = path.lastIndexOf("/") + 1;
  return { prefix: path.slice(0, cut), id: path.slice(cut) };
}
