import type { JSONObject, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { Model, ModelEvent } from "../../core/model/model.ts";
import type { Fault } from "../../core/outcome/outcome.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import type { Endpoint } from "../wires/endpoint.ts";
import { estimatedUsage } from "../wires/estimate.ts";
import { abortedFault } from "../wires/fault.ts";
import { type Prices, savedBy } from "../wires/prices.ts";
import type { LanguageModel } from "./is-language-model.ts";
import { createParts, type FinishPart, finishReasonOf, usageOf } from "./library-answer.ts";
import { faultOfFinish, faultOfLibrary } from "./library-fault.ts";
import { optionsFor } from "./library-request.ts";

/**
 * The data that the adapter needs besides the model: prices, and for a known provider its address; `options` are sent
 * to the provider with each request.
 */
export type LibraryParts = Readonly<{ prices: Prices; endpoint?: Endpoint; options?: JSONObject }>;

/** Makes a subcrew model from a model of the AI SDK. */
export function fromLanguageModel(
  model: LanguageModel,
  { prices, endpoint: given, options = {} }: LibraryParts,
): Model {
  const family = model.provider.split(".")[0] ?? model.provider;
  const endpoint = given ?? foreignEndpoint(family, model.provider);

  return async function* (request, signal) {
    const fail = (fault: Fault): ModelEvent => ({ type: "error", fault: signal.aborted ? abortedFault : fault });
    let reader: ReadableStreamDefaultReader<LanguageModelV3StreamPart> | undefined;
    try {
      const asked = optionsFor(request, { model, family, options, signal });
      // Versions 2 to 4 of the specification differ in parts that subcrew does not use, and in the format of usage,
      // which is therefore read defensively.
      const { stream } = await unlessAborted(model.doStream(asked as never), signal);
      reader = (stream as ReadableStream<LanguageModelV3StreamPart>).getReader();
      const price = prices.of(endpoint, model.modelId);
      const parts = createParts();
      let said = "";
      let finish: FinishPart | undefined;
      for (;;) {
        const { done, value } = await unlessAborted(reader.read(), signal);
        if (done) break;
        if (value.type === "error") {
          yield fail(faultOfLibrary(value.error, endpoint));
          return;
        }
        if (value.type === "finish") finish = value;
        const event = parts.take(value);
        if (event === undefined) continue;
        if (event.type === "text" || event.type === "thinking") said += event.text;
        yield event;
      }
      const fault = faultOfFinish(finish, endpoint);
      if (fault) {
        yield fail(fault);
        return;
      }
      if (finishReasonOf(finish) === "length")
        yield { type: "notice", code: "MODEL_CUT", text: "The answer reached the maximum length and was cut off." };
      const usage = usageOf(finish, model.provider) ?? estimatedUsage(request, said);
      const priced = await price;
      const cost = priced(usage);
      const content = parts.carried();
      const carry = content.length > 0 ? { carry: { by: model.provider, data: content } } : {};
      yield { type: "end", usage, ...defined({ cost, saved: savedBy(priced, usage) }), ...carry };
    } catch (thrown) {
      yield fail(faultOfLibrary(thrown, endpoint));
    } finally {
      reader?.cancel().catch(() => {}); // closes the connection when the answer is not complete
    }
  };
}

function foreignEndpoint(family: string, provider: string): Endpoint {
  return { provider: family || provider, baseURL: "", headers: {}, local: false, thinking: "none", quirks: {} };
}

/** Rejects as soon as the signal aborts, even if the model ignores the signal. */
function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new Error("aborted"));
    if (signal.aborted) {
      work.then(undefined, () => {}); // swallow a later rejection; the result is no longer needed
      return giveUp();
    }
    const release = onAbort(signal, giveUp);
    work.then(
      (value) => {
        release();
        resolve(value);
      },
      (error: unknown) => {
        release();
        reject(error instanceof Error ? error : Object.assign(new Error("thrown"), isRecord(error) ? error : {}));
      },
    );
  });
}
