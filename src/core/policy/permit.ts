import type { Agent } from "../agent/agent.ts";
import { DELEGATION_TOOL, toolMatches } from "../vocabulary/tool-names.ts";

/** The names of the finish tool, with which an agent returns its result. */
export const FINISH_TOOLS = ["complete_task", "submit_result", "yield"] as const;
export const FINISH_TOOL = FINISH_TOOLS[0];

/** True for the finish tool under any of its names. */
export function isFinishTool(name: string): boolean {
  return FINISH_TOOLS.some((finish) => finish === name);
}

/** Whether a tool may be used, and the rule that decided. */
export type Permission = Readonly<{ allowed: boolean; rule: string }>;

/** The tool permissions of a task: its agent's tools, limited by its parent and by the policy. */
export type Rights = Pick<Agent, "name" | "tools" | "disallowedTools"> &
  Readonly<{
    ceiling?: readonly string[];
    /** For each forbidden tool, the rule that forbids it. */
    barred?: Readonly<Record<string, string>>;
    /** Names of the task's delegation tools. All of them are the same permission. */
    delegation?: readonly string[];
  }>;

/** The permission that a tool needs: its name; all delegation tools share one permission. */
export function rightTo({ delegation }: Pick<Rights, "delegation">, tool: string): string {
  return delegation?.includes(tool) ? DELEGATION_TOOL : tool;
}

/** Companion tools by main tool: an agent with the main tool has its companion tools, too. */
const companions: Readonly<Record<string, string>> = { bash_output: "bash", kill_shell: "bash" };

/** The main tool of a companion tool. */
export const leadOf = (tool: string): string | undefined =>
  Object.hasOwn(companions, tool) ? companions[tool] : undefined;

/**
 * Decides which tools a model is shown and may execute. A parent's permissions limit its child's. A tool that is listed
 * with a pattern, as `bash(git log *)`, is shown; each call is judged separately.
 */
export function permit(rights: Rights, called: string): Permission {
  const known = judged.get(rights) ?? new Map<string, Permission>();
  const before = known.get(called);
  if (before) return before;
  const permission = judgeTool(rights, called);
  judged.set(rights, known.set(called, permission));
  return permission;
}

/** Cache of decisions: the rights of a task never change, and each step of the task asks about every tool. */
const judged = new WeakMap<Rights, Map<string, Permission>>();

/** The names of the tools that a task may use, in order, and the permissions that these tools need, each once. */
export type AllowedTools = Readonly<{ tools: readonly string[]; rights: readonly string[] }>;

/**
 * Returns the tools that these rights allow. The result is cached, because all tasks of one agent ask about the same
 * tools.
 */
export function allowedTools(rights: Rights, tools: ReadonlyMap<string, unknown>): AllowedTools {
  const known = allowed.get(rights);
  if (known?.of === tools) return known;
  const names = [...tools.keys()].filter((tool) => permit(rights, tool).allowed);
  const made = { of: tools, tools: names, rights: [...new Set(names.map((tool) => rightTo(rights, tool)))] };
  allowed.set(rights, made);
  return made;
}

const allowed = new WeakMap<Rights, AllowedTools & Readonly<{ of: ReadonlyMap<string, unknown> }>>();

/** The tool that an entry of a tool list names, without its argument pattern. */
const nameIn = (written: string): string => (written.endsWith(")") ? written.replace(/\([\s\S]*/, "") : written);

function judgeTool(rights: Rights, called: string): Permission {
  const { name, tools, disallowedTools, ceiling, barred } = rights;
  const tool = rightTo(rights, called);
  if (ceiling && !ceiling.includes(tool)) return { allowed: false, rule: `the parent of ${name} may not use the tool` };
  if (barred && Object.hasOwn(barred, tool)) return { allowed: false, rule: barred[tool]! };
  const lead = leadOf(tool);
  if (lead !== undefined && disallowedTools?.includes(lead)) return permit(rights, lead);
  if (disallowedTools?.some((pattern) => toolMatches(pattern, tool)))
    return { allowed: false, rule: `disallowedTools of ${name}` };
  if (tools === undefined)
    return {
      allowed: tool !== DELEGATION_TOOL || rights.delegation?.includes(called) === true,
      rule: `${name} lists no tools, so all but delegation are allowed`,
    };
  const listed = tools.some((written) => toolMatches(nameIn(written), tool));
  return { allowed: listed || (lead !== undefined && permit(rights, lead).allowed), rule: `tools of ${name}` };
}
