import type { Call } from "./engine.ts";

/** The path at which the patch of an attempt is kept. Each attempt has its own path. */
export const attemptPath = ({ path, attempt }: Pick<Call, "path" | "attempt">): string =>
  attempt > 1 ? `${path}.${attempt}` : path;
