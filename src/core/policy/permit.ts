import type { Agent } from "../agent/agent.ts";
import { DELEGATION_TOOL, toolMatches } from "../vocabulary/tool-names.ts";

/** The names under which a model may hand in its result; they are one tool. */
export const FINISH_TOOLS = ["complete_task", "submit_result", "yield"] as const;
export const FINISH_TOOL = FINISH_TOOLS[0];

/** True for the finish tool under any of its names. */
export function isFinishTool(name: string): boolean {
  return FINISH_TOOLS.some((finish) => finish === name);
}

/** Yes or no, and the rule that decided. */
export type Permission = Readonly<{ allowed: boolean; rule: string }>;

/** What a task may use: its agent's word, bounded by what its parent may use and by what the policy never allows. */
export type Rights = Pick<Agent, "name" | "tools" | "disallowedTools"> &
  Readonly<{
    ceiling?: readonly string[];
    /** Tool -> the rule that shuts it out. */
    barred?: Readonly<Record<string, string>>;
    /** What its delegation tools are called; having them is one right, whatever they are called. */
    delegation?: readonly string[];
  }>;

/** The right that a tool takes: its name, and for all delegation tools the same one. */
export function rightTo({ delegation }: Pick<Rights, "delegation">, tool: string): string {
  return delegation?.includes(tool) ? DELEGATION_TOOL : tool;
}

/** Tools that only look after what another one started: who has that one has these. */
const companions: Readonly<Record<string, string>> = { bash_output: "bash", kill_shell: "bash" };

/** The tool that another one only comes along with. */
export const leadOf = (tool: string): string | undefined =>
  Object.hasOwn(companions, tool) ? companions[tool] : undefined;

/**
 * Decides what a model is shown and, again, what is executed. A parent's rights bound its child's. A tool that is listed with a
 * pattern, as `bash(git log *)`, is shown; which of its calls fit is judged call by call.
 */
export function permit(rights: Rights, called: string): Permission {
  const { name, tools, disallowedTools, ceiling, barred } = rights;
  const tool = rightTo(rights, called);
  const covers = (list: readonly string[]): boolean => list.some((pattern) => toolMatches(pattern, tool));
  if (ceiling && !ceiling.includes(tool)) return { allowed: false, rule: `the parent of ${name} may not use it` };
  if (barred && Object.hasOwn(barred, tool)) return { allowed: false, rule: barred[tool]! };
  const lead = leadOf(tool);
  if (lead !== undefined && disallowedTools?.includes(lead)) return permit(rights, lead);
  if (disallowedTools && covers(disallowedTools)) return { allowed: false, rule: `disallowedTools of ${name}` };
  if (tools === undefined)
    return {
      allowed: tool !== DELEGATION_TOOL || rights.delegation?.includes(called) === true,
      rule: `${name} lists no tools, so all but delegation are allowed`,
    };
  const listed = covers(tools.map((written) => written.replace(/\([\s\S]*\)$/, "")));
  return { allowed: listed || (lead !== undefined && permit(rights, lead).allowed), rule: `tools of ${name}` };
}
