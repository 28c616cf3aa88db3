import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Node } from "../../core/plan/plan.ts";
import { carryOutGate } from "./gate-node.ts";
import { carryOutLoop } from "./loop-node.ts";
import type { NodeContext } from "./scope.ts";
import { carryOutTask } from "./task-node.ts";

/** Carries out one node that may start. A join never comes here: its outcome follows from what settled. */
export function carryOut(node: Node, place: NodeContext): Promise<Outcome> {
  switch (node.kind) {
    case "task":
      return carryOutTask(node, place);
    case "gate":
      return carryOutGate(node, place);
    case "loop":
      return carryOutLoop(node, place);
    case "join":
      return Promise.resolve(failed("CRASHED", "A join cannot be carried out."));
  }
}
