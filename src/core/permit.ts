import type { Agent } from "./agent.ts";
import { DELEGATION_TOOL, toolMatches } from "./tool-names.ts";

/** The names under which a model may hand in its result; they are one tool. */
export const FINISH_TOOLS = ["complete_task", "submit_result", "yield"] as const;
export const FINISH_TOOL = FINISH_TOOLS[0];

/** True for the finish tool under any of its names. */
export function isFinishTool(name: string): boolean {
  return FINISH_TOOLS.some((finish) => finish === name);
}

/** Yes or no, and the rule that decided. */
export type Permission = Readonly<{ allowed: boolean; rule: string }>;

/** What a task may use: its agent's word, bounded by what its parent may use. */
export type Rights = Pick<Agent, "name" | "tools" | "disallowedTools"> & Readonly<{ ceiling?: readonly string[] }>;

/** Decides what a model is shown and, again, what is executed. A parent's rights bound its child's. */
export function permit({ name, tools, disallowedTools, ceiling }: Rights, tool: string): Permission {
  const covers = (list: readonly string[]): boolean => list.some((pattern) => toolMatches(pattern, tool));
  if (ceiling && !ceiling.includes(tool)) return { allowed: false, rule: `the parent of ${name} may not use it` };
  if (disallowedTools && covers(disallowedTools)) return { allowed: false, rule: `disallowedTools of ${name}` };
  if (tools === undefined) return { allowed: tool !== DELEGATION_TOOL, rule: `${name} lists no tools, so all but delegation are allowed` };
  return { allowed: covers(tools), rule: `tools of ${name}` };
}
