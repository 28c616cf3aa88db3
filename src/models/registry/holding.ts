import { heldFault, type Hold, holdAfter, type HoldRules, judgeHold } from "../../core/model/hold.ts";
import type { Model, ModelEvent, ModelRequest } from "../../core/model/model.ts";
import { providerFaultOf } from "../../core/model/provider-fault.ts";
import type { Reopening } from "../../core/task/runner.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { withFullStop } from "../../core/text/sentence.ts";
import { following, pause } from "../../runtime/async/cancel.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import type { ProbeClaim, ProviderHolds } from "../../runtime/store/provider-holds.ts";
import { abortedFault } from "../wires/fault.ts";
import { type AnswerOpening, type BegunAnswer, beginAnswer, isContent, openAnswer, readAnswer } from "./open-answer.ts";

const LOOK_EVERY_MS = 250;

/** The API key that a model is called with, and whether other models are tried before this model. */
export type HeldModel = Readonly<{
  key: string;
  provider: string;
  id: string;
  fallback: boolean;
  holds: ProviderHolds;
  rules: HoldRules;
}>;

/**
 * Pauses requests of a task while its provider refuses the key. After a refusal, all tasks on this machine that use the
 * key wait (a hold). When the hold expires, one task sends a request to test the key, and the result applies to all of
 * them.
 */
export function holding(model: Model, held: HeldModel): Readonly<{ model: Model; reopening: Reopening }> {
  const { key, provider, id, fallback, holds, rules } = held;
  const judge = (hold: Hold | undefined): ReturnType<typeof judgeHold> =>
    judgeHold(hold, rules, { model: id, fallback, now: Date.now() });
  /** Set when this waiting task has the right to test the refused key: its request is sent first. */
  let waiting: ProbeClaim | undefined;

  const asking: Model = (request, signal) =>
    openAnswer(
      async () => {
        if (waiting) return undefined;
        const hold = await holds.look(key);
        return hold === undefined || judge(hold) === "go" ? beginAnswer(model(request, signal)) : undefined;
      },
      (begun) => (begun ? asked(begun, signal, undefined) : admit(request, signal)),
    );

  /** Waits until the key may be used, and sends the request. */
  async function* admit(request: ModelRequest, signal: AbortSignal): AnswerOpening {
    let claim = waiting;
    waiting = undefined;
    let before: Hold | undefined;
    while (!claim) {
      const hold = await holds.look(key);
      const verdict = judge(hold);
      if (hold === undefined || verdict === "go") break;
      if (verdict === "probe") claim = await holds.claimProbe(key);
      if (claim) break;
      const failedMeanwhile = before !== undefined && hold.tries > before.tries;
      if (verdict === "refuse" || rules.parks || failedMeanwhile) {
        yield { type: "error", fault: heldFault(hold, Date.now(), rules) };
        return undefined;
      }
      if (before === undefined) yield waits(hold);
      before ??= hold;
      const left = verdict === "probe" ? LOOK_EVERY_MS : hold.probeAt - Date.now();
      if (await pause(Math.min(LOOK_EVERY_MS, Math.max(1, left)), signal)) continue;
      yield { type: "error", fault: abortedFault };
      return undefined;
    }
    try {
      return yield* asked(await beginAnswer(model(request, signal)), signal, claim);
    } finally {
      await claim?.release();
    }
  }

  /** Records whether the response shows that the key works or is refused. */
  async function* asked(begun: BegunAnswer, signal: AbortSignal, claim: ProbeClaim | undefined): AnswerOpening {
    let served = false;
    const answer = readAnswer(begun);
    for await (const event of answer.events) {
      if (event.type === "error" && !served && !signal.aborted) {
        const kind = providerFaultOf(event.fault);
        if (kind)
          await holds.put(key, (now) =>
            holdAfter(now, { fault: event.fault, kind, model: id, now: Date.now(), probed: claim !== undefined }),
          );
        else if (claim) await holds.lift(key);
      } else if (isContent(event) && !served) {
        served = true;
        if (claim) await holds.lift(key);
      }
      yield event;
      if (served && !claim) return answer.rest();
    }
    return undefined;
  }

  const wait: Reopening["wait"] = async (signal) => {
    for (let hold = await holds.look(key); ; hold = await holds.lookLater(key)) {
      if (signal.aborted) return "";
      const verdict = judge(hold);
      if (verdict === "go") return `${provider} answers again`;
      const claim = verdict === "probe" ? await holds.claimProbe(key) : undefined;
      if (!claim) continue;
      if (signal.aborted) await claim.release();
      else {
        waiting = claim;
        onAbort(signal, () => {
          if (waiting !== claim) return;
          waiting = undefined;
          void claim.release();
        });
      }
      return `asking ${provider} again`;
    }
  };
  return {
    model: asking,
    reopening: {
      wait,
      look: async () => {
        const hold = await holds.look(key);
        if (hold === undefined || judge(hold) === "go") return undefined;
        return { nextTry: hold.probeAt, ...(hold.until !== undefined && { until: hold.until }) };
      },
    },
  };
}

/** Combines several models: waits until one of them may be called again. */
export function anyReopening(all: readonly Reopening[]): Reopening | undefined {
  const [first, ...more] = all;
  if (!first || more.length === 0) return first;
  return {
    look: async () => {
      const held = (await Promise.all(all.map((one) => one.look()))).filter((one) => one !== undefined);
      return held.toSorted((a, b) => a.nextTry - b.nextTry)[0];
    },
    wait: async (signal) => {
      const followers = all.map(() => following(signal));
      const waits = all.map(async (one, at) => ({ at, why: await one.wait(followers[at]!.controller.signal) }));
      const { at: first, why } = await Promise.race(waits);
      // The model that may be called keeps the right to test its key until it was called, or until the task is stopped.
      for (const [at, { controller, release }] of followers.entries()) {
        if (at === first) continue;
        release();
        controller.abort();
      }
      return why;
    },
  };
}

function waits({ fault, probeAt }: Hold): ModelEvent {
  const text = `${withFullStop(fault.message)} Asking again in ${formatDuration(Math.max(0, probeAt - Date.now()))}.`;
  return { type: "notice", code: "MODEL_RETRY", text };
}
