import type { Look } from "../../core/view/look.ts";
import { facadeOf } from "../../core/vocabulary/delegation-names.ts";
import { type Boxes, createBoxes } from "../../tui/boxes.ts";

/** Creates the boxes for the agents that a main agent starts, as wide as the terminal. */
export function boxesOn(look: Look): Boxes {
  return createBoxes({ look, columns: () => process.stderr.columns || 80, delegates });
}

/** True for a tool that starts agents. */
export const delegates = (tool: string): boolean => facadeOf(tool) !== undefined;
