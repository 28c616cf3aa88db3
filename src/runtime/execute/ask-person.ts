import { startTimer } from "../async/long-timer.ts";
import type { Answer } from "../../core/plan/gate.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { following, stopped } from "../async/cancel.ts";
import type { NodeContext, RunScope } from "./scope.ts";

/**
 * The key that identifies a question. Each question has its own key, so that an answer cannot reach another question.
 */
export function questionKey(run: string, path: string, call: string | undefined): string {
  return call === undefined ? `${run}/${path}` : `${run}/${path}#${call}`;
}

/** How long a question waits: until the run ends, or until its timeout if it has one. */
export function answerTimeoutOf(
  { parameters: { answerTimeoutMs } }: Pick<RunScope, "parameters">,
  parent: AbortSignal,
): Readonly<{ signal: AbortSignal; text: string; release(): void }> {
  const { controller, release } = following(parent);
  const text =
    answerTimeoutMs === undefined ? "nobody answered" : `nobody answered within ${formatDuration(answerTimeoutMs)}`;
  const clear =
    answerTimeoutMs === undefined ? undefined : startTimer(() => controller.abort(stopped(text)), answerTimeoutMs);
  return {
    signal: controller.signal,
    text,
    release: () => {
      clear?.();
      release();
    },
  };
}

/** The answer of `--yes`. */
export const APPROVED: Answer = { approve: true, by: "--yes" };

/**
 * Asks a person about the tool calls of one task, one after the other. A repeated call id is numbered, so that a late
 * answer to the first call does not count for the second.
 */
export function createAskPerson({
  path,
  scope: { run },
}: Pick<NodeContext, "path" | "scope">): Pick<PerformContext, "attended" | "ask"> {
  const { yes = false, unattended, asksCalls = unattended !== true } = run.parameters;
  const attended = asksCalls || yes || run.hasSavedAnswer?.(path) === true;
  const asked = new Map<string, number>();
  let before: Promise<unknown> = Promise.resolve();

  const ask: PerformContext["ask"] = (question, { call: id, wants, offersNetwork, inPerson, signal }) => {
    const turn = before.then(async (): Promise<Answer | undefined> => {
      const isApproved = yes && wants === undefined && !inPerson;
      const times = (asked.get(id) ?? 0) + 1;
      asked.set(id, times);
      const call = times === 1 ? id : `${id}.${times}`;
      const isAsked = asksCalls || isApproved || run.hasSavedAnswer?.(path, call);
      if (!isAsked || signal.aborted) return undefined;
      if (isApproved) {
        run.emit(path, { type: "gate.answered", answer: APPROVED, call });
        return APPROVED;
      }
      const patience = answerTimeoutOf(run, signal);
      const answer = run.engine.answer(questionKey(run.id, path, call), patience.signal);
      run.emit(path, { type: "gate.opened", question, call, ...defined({ wants, offersNetwork }) });
      const given = await answer;
      patience.release();
      if (!given && !signal.aborted)
        run.emit(path, {
          type: "warning",
          code: "NEEDS_ANSWER",
          text: `${path} asked for permission for a call: ${patience.text}.`,
        });
      if (given) run.emit(path, { type: "gate.answered", answer: given, call });
      return given;
    });
    before = turn.catch(() => undefined);
    return turn;
  };
  return { attended, ask };
}
