import { ALL_TOOLS, DELEGATION_TOOL, READ_ONLY_TOOLS } from "../../core/vocabulary/tool-names.ts";
import type { Draft } from "./draft.ts";

/** The origin that is shown for a value that was set because the file had to be repaired. */
export const REPAIR = "(repair)";

/** Makes an agent read-only. */
export function lookOnly({ agent, from }: Draft, key: string = from["permission"] ?? REPAIR): void {
  const { tools } = agent;
  if (tools === undefined || tools.includes(ALL_TOOLS)) {
    agent.tools = READ_ONLY_TOOLS;
    from["tools"] = key;
  } else {
    agent.tools = tools.filter((name) => READ_ONLY_TOOLS.includes(name) || name === DELEGATION_TOOL);
  }
}
