import type { Model, ModelEvent, ModelRequest } from "../../core/model/model.ts";
import { expectedTokens, type QuotaEntry, type RequestQuota, usedTokens } from "../../core/model/request-quota.ts";
import { abortedFault } from "../wires/fault.ts";

/**
 * A model whose requests respect limits that are shared with other processes: each request waits until the limits allow
 * it.
 */
export function metered(model: Model, quota: RequestQuota, provider: string): Model {
  return async function* (request, signal) {
    const entering = entered(quota, provider, request, signal);
    let entry: QuotaEntry | undefined;
    for (;;) {
      const step = await entering.next();
      if (step.done) {
        entry = step.value;
        break;
      }
      yield step.value;
    }
    if (!entry) {
      yield { type: "error", fault: abortedFault };
      return;
    }
    let used: number | undefined;
    try {
      for await (const event of model(request, signal)) {
        if (event.type === "end") used = usedTokens(event.usage);
        yield event;
      }
    } finally {
      await entry.leave(used);
    }
  };
}

/**
 * Waits until the limits allow the request, and reports the wait: a model that sends nothing for long is treated as
 * dead.
 */
async function* entered(
  quota: RequestQuota,
  provider: string,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, QuotaEntry | undefined, void> {
  let said: ((text: string) => void) | undefined;
  const next = (): Promise<string> => new Promise((resolve) => (said = resolve));
  let waits = next();
  const entering = quota
    .enter(
      { provider, model: request.model, tokens: expectedTokens(request) },
      { signal, waits: (text) => said?.(text) },
    )
    .then((entry) => ({ entry }));
  for (;;) {
    const first = await Promise.race([entering, waits]);
    if (typeof first !== "string") return first.entry;
    waits = next();
    yield { type: "notice", code: "MODEL_RETRY", text: first };
  }
}
