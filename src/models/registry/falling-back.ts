import { type ModelCandidate, mayFallBack } from "../../core/model/choose.ts";
import { messagesFor } from "../../core/model/leave-out-images.ts";
import type { Model, ModelRequest } from "../../core/model/model.ts";
import { providerFaultOf } from "../../core/model/provider-fault.ts";
import type { Fault } from "../../core/outcome/outcome.ts";
import { defined } from "../../core/text/defined.ts";
import { withFullStop } from "../../core/text/sentence.ts";
import { type AnswerOpening, type BegunAnswer, beginAnswer, openAnswer, readAnswer } from "./open-answer.ts";

/** A model that was chosen for a task, ready to be called. */
export type Contender = Pick<ModelCandidate, "name" | "id" | "thinking" | "spare"> & Readonly<{ model: Model }>;

/**
 * Calls the first of these models, and the next model after a failure that allows it, if no text was shown yet. It
 * serves one task: the model that answered is called first from then on.
 */
export function fallingBack(contenders: readonly Contender[]): Model {
  let current = 0;
  /** Asks the current model. */
  const ask = (request: ModelRequest, signal: AbortSignal): Promise<BegunAnswer> => {
    const { id, model, thinking } = contenders[current]!;
    const messages = messagesFor(id, request.messages);
    return beginAnswer(model({ ...request, messages, model: id, ...defined({ thinking }) }, signal));
  };
  async function* attempt(request: ModelRequest, signal: AbortSignal, first?: BegunAnswer): AnswerOpening {
    for (let begun = first; ; begun = undefined) {
      const { name } = contenders[current]!;
      let shown = false;
      let fault: Fault | undefined;
      const answer = readAnswer(begun ?? (await ask(request, signal)));
      for await (const event of answer.events) {
        if (event.type === "error") {
          fault = event.fault;
          break;
        }
        shown ||= event.type !== "notice";
        yield event.type === "end" && current > 0 ? { ...event, model: name } : event;
        if (shown && current === 0) return answer.rest();
      }
      if (fault === undefined) return undefined;
      const next = contenders[current + 1];
      if (next === undefined || shown || signal.aborted || !mayFallBack(fault, next)) {
        if (providerFaultOf(fault)) current = 0; // all models failed: the next request starts with the first one again
        yield { type: "error", fault };
        return undefined;
      }
      current += 1;
      yield {
        type: "notice",
        code: "MODEL_FALLBACK",
        text: `${withFullStop(fault.message)} Continuing with ${next.name} instead of ${name}.`,
      };
    }
  }
  return (request, signal) =>
    openAnswer(
      async () => (current === 0 ? ask(request, signal) : undefined),
      (begun) => attempt(request, signal, begun),
    );
}
