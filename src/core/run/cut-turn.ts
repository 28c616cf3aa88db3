import type { Cost, Usage } from "../outcome/usage.ts";
import type { ReservedTurn } from "./event.ts";

/** A turn whose answer has not come to its end: what was reserved for it, and how many characters of it were shown. */
export type OpenTurn = Readonly<{ reserved?: ReservedTurn | undefined; chars: number }>;

/** Characters per token of what was shown. */
const CHARS_PER_TOKEN = 4;

/**
 * What a turn counts as that was cut off: its provider has read the input and written what was shown, and no bill came
 * with it. Nothing is reserved for a turn of a tool that does not say what it sends.
 */
export function cutTurn({ reserved, chars }: OpenTurn): Readonly<{ usage: Partial<Usage>; cost: Cost }> {
  const shown = Math.ceil(chars / CHARS_PER_TOKEN);
  const estimated = (reserved?.input ?? 0) + shown;
  if (estimated === 0) return { usage: {}, cost: { usd: 0, unpriced: 0 } };
  if (reserved?.usd === undefined) return { usage: { estimated }, cost: { usd: 0, unpriced: 1 } };
  return {
    usage: { estimated },
    cost: { usd: 0, unpriced: 0, estimated: reserved.usd + shown * (reserved.usdPerToken ?? 0) },
  };
}
