import type { Model, ModelRequest } from "../../core/model/model.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { type AnswerOpening, type BegunAnswer, beginAnswer, isContent, openAnswer, readAnswer } from "./open-answer.ts";

/**
 * The minimum number of tokens of a shared beginning: providers do not cache a shorter beginning, or the cache saves
 * less than the wait costs.
 */
const WORTH_TOKENS = 1_024;
const CHARS_PER_TOKEN = 4;
/** How long a request waits for the first byte of the request that fills the provider's cache. */
const LONGEST_WAIT_MS = 10_000;
/** How long the beginning of a request stays in a provider's cache, less a margin. */
const WARM_MS = 4 * 60_000;

type Prefix = { writer: Promise<void> | undefined; warmUntil: number };

/** The beginnings of requests that one provider has cached. */
export type Prefixes = Map<string, Prefix>;

/**
 * Sends the first of several requests with the same beginning ahead: the others start after its first byte, because
 * only then can they read that beginning from the provider's cache instead of paying for it again.
 */
export function warmingPrefix(
  model: Model,
  {
    waitMs = LONGEST_WAIT_MS,
    now = Date.now,
    prefixes = new Map(),
  }: Readonly<{ waitMs?: number; now?: () => number; prefixes?: Prefixes }> = {},
): Model {
  /** Sends a request: either after another request has filled the provider's cache, or as the request that fills it. */
  const behindWriter = async (prefix: Prefix, request: ModelRequest, signal: AbortSignal): Promise<BegunAnswer> => {
    const deadline = now() + waitMs;
    while (prefix.warmUntil < now() && prefix.writer && now() < deadline && !signal.aborted)
      await settled(prefix.writer, deadline - now(), signal);
    let arrived: () => void = () => {};
    if (prefix.warmUntil < now() && !prefix.writer)
      prefix.writer = new Promise((resolve) => {
        arrived = () => {
          prefix.writer = undefined;
          resolve();
        };
      });
    try {
      const begun = await beginAnswer(model(request, signal));
      if (begun.first.done !== true && isContent(begun.first.value)) prefix.warmUntil = now() + WARM_MS;
      return begun;
    } finally {
      arrived();
    }
  };
  /** Passes on an answer that did not begin with content; the cache counts as filled once content arrives. */
  async function* handled(begun: BegunAnswer, prefix: Prefix): AnswerOpening {
    const answer = readAnswer(begun);
    for await (const event of answer.events) {
      if (isContent(event)) prefix.warmUntil = now() + WARM_MS;
      yield event;
      if (isContent(event)) return answer.rest();
    }
    return undefined;
  }
  const prefixOf = (key: string): Prefix => {
    const prefix = prefixes.get(key) ?? { writer: undefined, warmUntil: 0 };
    prefixes.set(key, prefix);
    return prefix;
  };
  return (request, signal) => {
    const key = keyOf(request);
    if (key === undefined) return model(request, signal);
    const prefix = prefixOf(key);
    return openAnswer(
      () => behindWriter(prefix, request, signal),
      (begun) => handled(begun!, prefix),
    );
  };
}

/** The key that requests with the same beginning share; `undefined` if waiting for the cache is not worth it. */
function keyOf({ model, prefix }: ModelRequest): string | undefined {
  if (!prefix || prefix.chars < WORTH_TOKENS * CHARS_PER_TOKEN) return undefined;
  return `${model}\n${prefix.key}`;
}

/** Resolves when the work ends, after some time, or when the signal aborts. */
function settled(work: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      release();
      resolve();
    };
    const timer = setTimeout(end, ms);
    const release = onAbort(signal, end);
    void work.then(end);
  });
}
