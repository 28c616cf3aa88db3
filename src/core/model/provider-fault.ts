import type { Fault } from "../outcome/outcome.ts";

/**
 * Why a provider does not serve a task: a key, credit, an exhausted quota, or an outage. The task waits until the
 * provider serves it again.
 */
export type ProviderFault = "key" | "credit" | "quota" | "provider";

/**
 * Classifies an error as a fault of a provider; `undefined`: asking later would not help, or the error is not about the
 * provider.
 */
export function providerFaultOf({ code, retryable }: Pick<Fault, "code" | "retryable">): ProviderFault | undefined {
  switch (code) {
    case "MODEL_AUTH":
      return "key";
    case "MODEL_RATE_LIMIT":
      return retryable ? "quota" : "credit";
    case "MODEL_OVERLOADED":
    case "MODEL_NETWORK":
      return "provider";
    default:
      return undefined;
  }
}

const FIRST_WAIT_MS: Readonly<Record<ProviderFault, number>> = {
  key: 5_000,
  credit: 5_000,
  quota: 500,
  provider: 500,
};
const LONGEST_WAIT_MS = 300_000;
/** The maximum wait. If a provider asks for a longer wait, a test request is sent once an hour. */
export const LONGEST_TOLD_MS = 3_600_000;

/**
 * How long to wait before the provider is asked again: as long as the provider said, else twice as long after each try.
 */
export function waitAfterFault(fault: Fault, kind: ProviderFault, tries: number): number {
  if (fault.retryAfterMs !== undefined) return Math.min(fault.retryAfterMs, LONGEST_TOLD_MS);
  return Math.min(FIRST_WAIT_MS[kind] * 2 ** Math.max(0, tries - 1), LONGEST_WAIT_MS);
}
