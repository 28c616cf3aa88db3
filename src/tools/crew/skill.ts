import { z } from "zod";
import { agentFor, type Skill } from "../../core/agent/skill.ts";
import { nameRefusal } from "../../core/delegation/spawn.ts";
import { expandSkill } from "../../core/agent/skill-arguments.ts";
import { explain } from "../../core/outcome/outcome.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../core/task/tool.ts";
import { cutHead } from "../../core/text/cut.ts";
import { defined } from "../../core/text/defined.ts";
import { nearest } from "../../core/text/nearest.ts";
import type { ToolParts } from "../parts/tool-parts.ts";

const input = z.strictObject({
  name: z.string().min(1).optional().describe("the skill"),
  arguments: z.string().optional().describe("arguments of the skill"),
});

/** Returns the text of a skill to an agent, or runs the skill in the agent that the skill names. */
export const skill = (parts: ToolParts = {}): Tool =>
  defineTool({
    name: "skill",
    description:
      "Loads the instructions of a skill, to be followed from then on. A skill that names its own agent is run by that agent, and you get the result. Without a name, lists the skills.",
    input,
    aliases: { skill: "name", command: "name", args: "arguments" },
    effect: "read",
    does: "read",
    order: () => "spawn", // the skill may be run by an agent
    timeoutMs: 2 ** 31 - 1, // no time limit: the skill takes as long as its agent needs
    async run({ name, arguments: given = "" }, context) {
      const all = ((await parts.skills?.()) ?? []).filter(({ disableModelInvocation }) => !disableModelInvocation);
      if (name === undefined) return listed(all);
      const found = all.find((one) => one.name === name);
      if (!found) return unknown(name, all);
      const text = expandSkill(found.instructions, given);
      return found.context === "fork" && mayStart(agentFor(found), context) ? forked(found, text, context) : text;
    },
  });

const DESCRIPTION_CHARS = 200;

function listed(all: readonly Skill[]): string {
  if (all.length === 0) return "[no skills]";
  return all.map(({ name, description }) => `${name}: ${cutHead(description, DESCRIPTION_CHARS).text}`).join("\n");
}

function unknown(name: string, all: readonly Skill[]): ToolResult {
  const names = all.map((one) => one.name);
  const close = nearest(name, names);
  const hint = close === undefined ? `Known skills: ${names.join(", ") || "none"}.` : `Did you mean "${close}"?`;
  return { text: `Unknown skill "${name}". ${hint}`, error: true };
}

/**
 * True if a skill may run in this agent. Running a skill in another agent is delegation, and needs the permission for
 * it.
 */
const mayStart = (agent: string, { spawns = [] }: ToolContext): boolean => nameRefusal(agent, { spawns }) === undefined;

async function forked({ name, agent, model }: Skill, text: string, { delegate }: ToolContext): Promise<ToolResult> {
  const outcome = await delegate({
    mode: "single",
    agent: agentFor({ ...defined({ agent }) }),
    task: text,
    ...defined({ model }),
  });
  if (outcome.status !== "ok") return { text: `The skill "${name}" failed: ${explain(outcome)}`, error: true };
  const { text: said, cut } = cutHead(outcome.output);
  return cut ? `${said}\n\n... [truncated]` : said;
}
