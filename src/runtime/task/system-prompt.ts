import type { Completion } from "../../core/agent/agent.ts";
import { prompts } from "../../embedded.ts";

/** The parts of a system prompt besides the agent's own instructions. */
export type SystemPromptParts = Readonly<{
  /** The agent's own instructions; they follow the common part. */
  instructions?: string;
  /** What tool names of other programs in the instructions mean. */
  toolNames?: string;
  /** Folder, machine, repository and sandbox. */
  environment?: string;
  /** The project's instructions for every agent. */
  project?: string;
  completion?: Completion;
  /** True in plan mode: the task may not change anything. */
  planMode?: boolean;
}>;

/** The part of the system prompt that all agents share. */
export const basePersona: string = prompts.base;

/**
 * The system prompt of a task: the part that all agents share, the agent's instructions, its environment, the
 * project's instructions, and how to return the result.
 */
export function buildSystemPrompt(
  persona: string,
  {
    instructions = "",
    toolNames = "",
    environment = "",
    project = "",
    completion = "text",
    planMode = false,
  }: SystemPromptParts = {},
): string {
  const parts = [
    persona,
    planMode ? prompts.planMode : "",
    instructions,
    toolNames,
    environment,
    project === "" ? "" : `${prompts.projectInstructions}\n\n${project}`,
    completion === "text" ? prompts.finishText : prompts.finishTool,
  ];
  const text = parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n\n");
  return shared(text);
}

/** The size of the cache of system prompts; tasks with the same prompt share an entry. */
const MOST_SHARED = 100;
const known = new Map<string, string>();

/**
 * Returns the same string object for equal texts, so that a thousand tasks of one agent hold one prompt instead of a
 * thousand.
 */
function shared(text: string): string {
  const before = known.get(text);
  if (before !== undefined) return before;
  if (known.size >= MOST_SHARED) known.clear();
  known.set(text, text);
  return text;
}
