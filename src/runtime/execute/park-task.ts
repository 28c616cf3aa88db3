import type { Task } from "../../core/plan/task.ts";
import type { Parks } from "../../core/task/engine.ts";
import { pause } from "../async/cancel.ts";
import type { YieldingSlot } from "../async/yielding-slot.ts";
import type { NodeContext } from "./scope.ts";

type TaskPlace = Pick<NodeContext, "path" | "scope" | "signal">;

/** Lets tasks park where the options of the run say so; see `parkTask`. */
export function createParks(place: TaskPlace, slot: YieldingSlot): Parks | undefined {
  const { parks } = place.scope.run;
  if (parks === undefined || (parks.onLimit === "end" && parks.onProviderFault === "fail")) return undefined;
  return { ...parks, park: parkTask(place, slot) };
}

/** Parks a task: records why it waits, frees its slot meanwhile, and records what ended the wait. */
const parkTask =
  ({ path, scope: { run }, signal }: TaskPlace, slot: YieldingSlot): Parks["park"] =>
  async (parking, wait) => {
    if (signal.aborted) return false;
    run.emit(path, { type: "node.parked", ...parking });
    const why = await slot.whileFree(() => wait(signal));
    if (signal.aborted) return false;
    run.emit(path, { type: "node.unparked", why });
    return true;
  };

/** How often the missing agent of a task is searched again. */
const SEARCH_MS = 2_000;

/** Parks a task of a resumed run while its agent is missing, whatever the options say. False: the task was stopped. */
export async function untilAgentFound(task: Task, place: TaskPlace, slot: YieldingSlot): Promise<boolean> {
  const { run } = place.scope;
  const missing = run.missingAgent?.(task);
  if (!missing) return true;
  return parkTask(place, slot)({ ...missing, waitsFor: "agent" }, async (signal) => {
    while (await pause(SEARCH_MS, signal)) {
      await run.agents?.().catch(() => {}); // an unreadable folder may become readable
      if (!run.missingAgent?.(task)) break;
    }
    return "the agent was found";
  });
}
