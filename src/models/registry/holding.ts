import {
  heldFault,
  type Hold,
  holdAfter,
  type HoldRules,
  isAboutModel,
  judgeHold,
  refusedFault,
} from "../../core/model/hold.ts";
import type { Model, ModelEvent, ModelRequest } from "../../core/model/model.ts";
import { providerFaultOf } from "../../core/model/provider-fault.ts";
import type { Fault } from "../../core/outcome/outcome.ts";
import type { Reopening } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { withFullStop } from "../../core/text/sentence.ts";
import { following, pause } from "../../runtime/async/cancel.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import type { ProbeClaim, ProviderHolds } from "../../runtime/ledgers/provider-holds.ts";
import { abortedFault } from "../wires/fault.ts";
import { type AnswerOpening, type BegunAnswer, beginAnswer, isContent, openAnswer, readAnswer } from "./open-answer.ts";

const LOOK_EVERY_MS = 250;

/** A model, and the hold keys under which refusals of its API key and of the model itself are stored. */
export type HeldModel = Readonly<{
  keys: Readonly<{ key: string; model: string }>;
  provider: string;
  id: string;
  holds: ProviderHolds;
  rules: HoldRules;
}>;

/**
 * Pauses requests of a task while its provider refuses the key or the model. After a refusal, all tasks on this machine
 * that use them wait (a hold). When the hold expires, one task sends a request to test it, and the result applies to all
 * of them.
 */
export function holding(model: Model, held: HeldModel): Readonly<{ model: Model; reopening: Reopening }> {
  const { keys, provider, id, holds, rules } = held;
  /** The hold that applies to the next request, and the verdict on it. */
  const judged = async (look = holds.look): Promise<Judged | undefined> => {
    const [ofKey, ofModel] = [await look(keys.key), await holds.look(keys.model)];
    const isOfKey = (ofKey?.probeAt ?? 0) >= (ofModel?.probeAt ?? 0);
    const hold = isOfKey ? ofKey : ofModel;
    return hold && { key: isOfKey ? keys.key : keys.model, hold, verdict: judgeHold(hold, rules, Date.now()) };
  };
  /** Set when this waiting task has the right to test the refused key: its request is sent first. */
  let waiting: Permit | undefined;

  const asking: Model = (request, signal) =>
    openAnswer(
      async () => (waiting || (await judged()) ? undefined : beginAnswer(model(request, signal))),
      (begun) => (begun ? asked(begun, signal, undefined) : admit(request, signal)),
    );

  /** Waits until the key may be used, and sends the request. */
  async function* admit(request: ModelRequest, signal: AbortSignal): AnswerOpening {
    let permit = waiting;
    waiting = undefined;
    let isTold = false;
    while (!permit) {
      const now = await judged();
      if (now === undefined) break;
      const { hold, verdict } = now;
      permit = await permitFor(now);
      if (permit) break;
      if (verdict === "refuse" || rules.parks) {
        yield { type: "error", fault: heldFault(hold, Date.now(), rules) };
        return undefined;
      }
      if (!isTold) yield waits(hold);
      isTold = true;
      const left = verdict === "probe" ? LOOK_EVERY_MS : hold.probeAt - Date.now();
      if (await pause(Math.min(LOOK_EVERY_MS, Math.max(1, left)), signal)) continue;
      yield { type: "error", fault: abortedFault };
      return undefined;
    }
    try {
      return yield* asked(await beginAnswer(model(request, signal)), signal, permit);
    } finally {
      await permit?.claim?.release();
    }
  }

  const permitFor = async ({ key, verdict }: Judged): Promise<Permit | undefined> => {
    if (verdict === "try") return { key };
    const claim = verdict === "probe" ? await holds.claimProbe(key) : undefined;
    return claim && { key, claim };
  };

  /** Records whether the response shows that the key works or is refused. */
  async function* asked(begun: BegunAnswer, signal: AbortSignal, permit: Permit | undefined): AnswerOpening {
    let served = false;
    const answer = readAnswer(begun);
    for await (const event of answer.events) {
      if (!served && (isContent(event) || (event.type === "error" && !signal.aborted))) {
        served = event.type !== "error";
        const refused = event.type === "error" ? await refusal(event.fault, permit) : undefined;
        if (permit && permit.key !== refused) await holds.lift(permit.key);
      }
      yield event.type === "error" ? { ...event, fault: refusedFault(event.fault, Date.now(), rules) } : event;
      if (served && !permit?.claim) return answer.rest();
    }
    return undefined;
  }

  /** Records a refusal of the provider, and returns the key of its hold. */
  const refusal = async (fault: Fault, permit: Permit | undefined): Promise<string | undefined> => {
    const kind = providerFaultOf(fault);
    if (kind === undefined) return undefined;
    const key = isAboutModel(fault) ? keys.model : keys.key;
    const about = isAboutModel(fault) ? `${provider}/${id}` : provider;
    const probed = permit?.claim !== undefined && permit.key === key;
    await holds.put(key, (now) => holdAfter(now, { fault, kind, about, now: Date.now(), probed }));
    return key;
  };

  const wait: Reopening["wait"] = async (signal) => {
    for (let now = await judged(); ; now = await judged(holds.lookLater)) {
      if (signal.aborted) return "";
      if (now === undefined) return `${provider} answers again`;
      const permit = await permitFor(now);
      if (!permit) continue;
      if (signal.aborted) await permit.claim?.release();
      else {
        waiting = permit;
        onAbort(signal, () => {
          if (waiting !== permit) return;
          waiting = undefined;
          void permit.claim?.release();
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
        const now = await judged();
        return now && { nextTry: now.hold.probeAt, ...defined({ until: now.hold.until }) };
      },
    },
  };
}

type Judged = Readonly<{ key: string; hold: Hold; verdict: ReturnType<typeof judgeHold> }>;

/** The right to send a request in spite of a hold; with a claim no other task has it. */
type Permit = Readonly<{ key: string; claim?: ProbeClaim }>;

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
