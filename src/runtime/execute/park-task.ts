import type { Parks } from "../../core/task/engine.ts";
import type { DelegationSlot } from "./delegate.ts";
import type { NodeContext } from "./scope.ts";

/** Lets tasks park: records why a task waits, frees its slot meanwhile, and records what ended the wait. */
export function createParks(
  { path, scope: { run }, signal }: Pick<NodeContext, "path" | "scope" | "signal">,
  { freeSlot }: Pick<DelegationSlot, "freeSlot">,
): Parks | undefined {
  const { parks } = run;
  if (parks === undefined || (parks.onLimit === "end" && parks.onProviderFault === "fail")) return undefined;
  return {
    ...parks,
    park: async (parking, wait) => {
      if (signal.aborted) return false;
      run.emit(path, { type: "node.parked", ...parking });
      const why = await freeSlot(() => wait(signal));
      if (signal.aborted) return false;
      run.emit(path, { type: "node.unparked", why });
      return true;
    },
  };
}
