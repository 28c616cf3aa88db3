import type { Answer } from "../core/gate.ts";
import type { PerformContext } from "../core/engine.ts";
import type { Place } from "./scope.ts";

/** Where the answer to a question is handed in: every question has a place of its own, so no answer meets another. */
export function questionKey(run: string, path: string, call: string | undefined): string {
  return call === undefined ? `${run}/${path}` : `${run}/${path}#${call}`;
}

/**
 * Asks about the calls of one task, one after the other: a person reads one question at a time. A call id that comes again is
 * given a number, for a late answer to the first must not count for the second.
 */
export function createAsking({ path, scope: { run } }: Pick<Place, "path" | "scope">): Pick<PerformContext, "attended" | "ask"> {
  const asked = new Map<string, number>();
  let before: Promise<unknown> = Promise.resolve();

  const ask: PerformContext["ask"] = (question, { call: id, signal }) => {
    const turn = before.then(async (): Promise<Answer | undefined> => {
      if (run.unattended || signal.aborted) return undefined;
      const times = (asked.get(id) ?? 0) + 1;
      asked.set(id, times);
      const call = times === 1 ? id : `${id}.${times}`;
      const answer = run.engine.answer(questionKey(run.id, path, call), signal);
      run.emit(path, { type: "gate.opened", question, call });
      const given = await answer;
      if (given) run.emit(path, { type: "gate.answered", answer: given, call });
      return given;
    });
    before = turn.catch(() => undefined);
    return turn;
  };
  return { attended: !run.unattended, ask };
}
