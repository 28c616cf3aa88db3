import type { Cost, Usage } from "../outcome/usage.ts";
import type { ReservedTurn } from "./event.ts";

/** A model turn that has not ended: its reserved cost, and the number of characters received so far. */
export type OpenTurn = Readonly<{ reserved?: ReservedTurn | undefined; chars: number }>;

/** Characters per token, for estimates of usage. */
const CHARS_PER_TOKEN = 4;

/**
 * Estimated usage of a turn that was cut off: the provider has read the input and written the shown text, but sent no
 * usage data. Without a reservation (as for external agent programs that do not report their requests), only the text
 * is counted.
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
