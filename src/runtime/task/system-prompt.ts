import type { Completion } from "../../core/agent/agent.ts";
import { prompts } from "../../embedded.ts";

/** What besides the persona goes into a system prompt. */
export type SystemPromptParts = Readonly<{
  /** The agent's own words; they follow the persona. */
  instructions?: string;
  completion?: Completion;
  /** Nothing may be changed. */
  planMode?: boolean;
}>;

/** The persona that all agents share. */
export const basePersona: string = prompts.base;

/** The system prompt of a task: the persona, the agent's instructions, and how to return the result. */
export function buildSystemPrompt(
  persona: string,
  { instructions = "", completion = "text", planMode = false }: SystemPromptParts = {},
): string {
  const parts = [
    persona,
    planMode ? prompts.planMode : "",
    instructions,
    completion === "text" ? prompts.finishText : prompts.finishTool,
  ];
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n\n");
}
