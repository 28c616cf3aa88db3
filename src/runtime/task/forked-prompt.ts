import type { Agent, Completion } from "../../core/agent/agent.ts";
import { isFinishTool, permit, type Rights } from "../../core/policy/permit.ts";
import type { ForkPoint } from "../../core/task/fork-point.ts";
import type { JsonSchema } from "../../core/text/json.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";

/**
 * How a subagent that starts from its parent's conversation returns its result: with the finish tool of that
 * conversation, or as text.
 */
export const forkedCompletion = ({ tools }: ForkPoint): Completion =>
  tools.some(({ name }) => isFinishTool(name)) ? "tool-or-text" : "text";

type ForkedHelper = Readonly<{ rights: Rights; agent: Agent; instructions: string; schema: JsonSchema | undefined }>;

/**
 * The prompt of a subagent that starts from its parent's conversation. It shares system prompt and tools with that
 * conversation, so its own instructions are in this prompt.
 */
export function forkedPrompt(
  fork: ForkPoint,
  asked: string,
  { agent, instructions, rights, schema }: ForkedHelper,
): string {
  const shown = fork.tools.map(({ name }) => name).filter((tool) => !isFinishTool(tool));
  const usable = shown.filter((tool) => permit(rights, tool).allowed);
  const say = (text: string, name: string, value: string): string => fill(text, new Map([[name, value]]));
  return [
    say(prompts.fork, "agent", agent.name),
    usable.length < shown.length ? say(prompts.forkTools, "tools", usable.join(", ") || "none") : "",
    fork.system.includes(instructions) ? "" : instructions,
    schema ? say(prompts.forkSchema, "schema", JSON.stringify(schema)) : "",
    asked,
  ]
    .filter((part) => part.trim() !== "")
    .join("\n\n");
}
