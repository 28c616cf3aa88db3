import type { Fact } from "../../core/run/event.ts";
import { isKilled, pauseReason } from "../async/cancel.ts";
import type { StoppableNodes } from "../execute/stoppable-nodes.ts";
import type { Feature } from "./feature.ts";

export const pauseFeature: Feature = {
  name: "pause",
  does: "records nothing that is cut short by a pause, so that the run can continue from its last events",
  open: ({ signal, emit, log }) => {
    const reason = (): string | undefined => pauseReason(signal);
    let recorded = false;
    let nodes: StoppableNodes | undefined;
    const record = (): void => {
      const why = reason();
      if (why === undefined || recorded || isKilled(signal)) return;
      recorded = true;
      emit("", { type: "run.paused", reason: why });
      log.hasten();
    };
    return {
      outlets: (inner) => ({
        // Of the nodes that end during a pause, only those that were cancelled have ended: all others continue when the
        // run is resumed, as after a kill.
        emit: (path, fact) => {
          const isEnd = fact.type === "node.ended";
          if (reason() === undefined || isKept(fact) || (isEnd && nodes?.isCancelled(path))) inner.emit(path, fact);
          else if (isEnd) nodes?.interrupt(path);
        },
        live: inner.live,
      }),
      scope: ({ durable, stoppable }) => {
        nodes = stoppable;
        return {
          durable: () => (reason() === undefined ? durable() : Promise.reject(new Error("the run is paused"))),
        };
      },
      stopping: record,
      end: (outcome) => {
        record();
        return reason() === undefined ? outcome : undefined;
      },
    };
  },
};

/** True for events that are recorded while a run is being paused. */
function isKept(fact: Fact): boolean {
  return fact.type === "tool.ended" ? !fact.error : KEPT.has(fact.type);
}

const KEPT: ReadonlySet<Fact["type"]> = new Set([
  "run.started",
  "run.resumed",
  "run.paused",
  "turn.ended",
  "gate.answered",
  "message.sent",
  "warning",
]);
