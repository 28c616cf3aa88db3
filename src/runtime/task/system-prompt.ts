import type { Agent, Completion } from "../../core/agent/agent.ts";
import type { Task } from "../../core/plan/task.ts";
import { fillInputs } from "../../core/text/input-template.ts";
import { version } from "../../core/text/version.ts";
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

/** The values that a system prompt depends on, besides the agent and the inputs of the task. */
type SystemParts = Readonly<{
  activeModel: string;
  today: string;
  environment: string;
  toolNames: string;
  project: string;
  completion: Completion;
  planMode: boolean;
}>;
type SystemTexts = Readonly<{ instructions: string; system: string }>;

/** Cache: the last texts of each agent. Tasks of one agent differ in their prompts, not in these texts. */
const written = new WeakMap<Agent, SystemParts & SystemTexts>();

/** The agent's instructions for a task, and its system prompt. */
export function systemFor(agent: Agent, task: Task, parts: SystemParts): SystemTexts {
  const known = task.inputs ? undefined : written.get(agent);
  if (
    known?.activeModel === parts.activeModel &&
    known.today === parts.today &&
    known.environment === parts.environment &&
    known.toolNames === parts.toolNames &&
    known.project === parts.project &&
    known.completion === parts.completion &&
    known.planMode === parts.planMode
  )
    return known;
  const { environment, toolNames, project, completion, planMode, ...words } = parts;
  const instructions = instructionsFor(agent, task, words);
  const system = buildSystemPrompt(basePersona, {
    instructions,
    toolNames,
    environment,
    project,
    completion,
    planMode,
  });
  if (!task.inputs) written.set(agent, { ...parts, instructions, system });
  return { instructions, system };
}

/**
 * The agent's instructions with its inputs filled in. Only placeholders of declared inputs and known values are
 * replaced.
 */
function instructionsFor(
  { instructions, inputs = {} }: Agent,
  { inputs: given = {} }: Task,
  known: { activeModel: string; today: string },
): string {
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(inputs, name)));
  return fillInputs(instructions, { cliVersion: version, ...known, ...own });
}
