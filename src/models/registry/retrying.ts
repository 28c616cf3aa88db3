import { PARKS_FROM_MS } from "../../core/model/hold.ts";
import type { Model, ModelEvent, ModelRequest } from "../../core/model/model.ts";
import type { Fault } from "../../core/outcome/outcome.ts";
import { calculateBackoff, MAX_BACKOFF_MS } from "../../core/plan/retry.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { withFullStop } from "../../core/text/sentence.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { abortedFault } from "../wires/fault.ts";
import { type AnswerOpening, type BegunAnswer, beginAnswer, openAnswer, readAnswer } from "./open-answer.ts";

/** How many times a failed model turn is retried automatically. */
const RETRIES = 3;
const FIRST_WAIT_MS = 500;
/** The share by which a wait is extended at random, so that retries do not all happen at once. */
const JITTER = 0.25;

/**
 * Retries a model turn after a transient failure, if none of its text was shown. It waits longer each time, and at
 * least as long as the provider asks for. If the provider asks for more than a minute, it does not wait. For a task
 * that can park (give up its slot), this waits for less than a second only.
 */
export function retrying(
  model: Model,
  { random, parks = false }: Readonly<{ random(): number; parks?: boolean }>,
): Model {
  const longest = parks ? PARKS_FROM_MS - 1 : MAX_BACKOFF_MS;
  async function* attempt(request: ModelRequest, signal: AbortSignal, begun?: BegunAnswer): AnswerOpening {
    for (let n = 1; ; n += 1) {
      let fault: Fault | undefined;
      const answer = readAnswer((n === 1 && begun) || (await beginAnswer(model(request, signal))));
      for await (const event of answer.events) {
        if (event.type === "error") {
          fault = event.fault;
          break;
        }
        yield event;
        if (event.type !== "notice") return answer.rest();
      }
      if (fault === undefined) return undefined;
      const asked = fault.retryAfterMs ?? 0;
      if (!fault.retryable || n > RETRIES || asked > longest || signal.aborted) {
        yield { type: "error", fault };
        return undefined;
      }
      const waitMs = Math.round(Math.max(asked, calculateBackoff(FIRST_WAIT_MS, n)) * (1 + random() * JITTER));
      yield notice(fault, waitMs, n);
      if (await pause(waitMs, signal)) continue;
      yield { type: "error", fault: abortedFault };
      return undefined;
    }
  }
  return (request, signal) =>
    openAnswer(
      () => beginAnswer(model(request, signal)),
      (begun) => attempt(request, signal, begun),
    );
}

function notice({ message }: Fault, waitMs: number, n: number): ModelEvent {
  const text = `${withFullStop(message)} Trying again in ${formatDuration(waitMs)} (${n} of ${RETRIES}).`;
  return { type: "notice", code: "MODEL_RETRY", text };
}
