import { CrewError } from "../../core/schema/error.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import { isStandardSchema, plainSchemaOf } from "../../core/schema/standard-schema.ts";
import { isRecord, type JsonSchema } from "../../core/text/json.ts";
import type { ResourceLimits } from "../../core/vocabulary/limits.ts";
import { toolsNamed } from "../../core/vocabulary/tool-names.ts";
import { listOf } from "../fields/lists.ts";
import type { Data } from "../yaml/frontmatter.ts";

/** The inputs of an agent; `${name}` in its prompts stands for the input of that name. */
export type InputConfig = { inputs: Record<string, { type: string; description: string; required?: boolean }> };

export type PromptConfig = { systemPrompt?: string; query?: string; initialMessages?: readonly unknown[] };

/** Model settings; `temp` and `top_p` are the spellings in Gemini CLI's documentation. */
export type GeminiModelConfig = {
  model: string;
  temp?: number;
  top_p?: number;
  generateContentConfig?: { temperature?: number; topP?: number; thinkingConfig?: Record<string, unknown> };
};

/** The keys of `run`: with underscores as in Gemini CLI's documentation, or in camel case. */
export type RunConfig = { maxTurns?: number; maxTimeMinutes?: number; max_turns?: number; max_time_minutes?: number };

export type OutputConfig<Schema = unknown> = { outputName: string; description: string; schema: Schema };

type BaseDefinition = {
  name: string;
  description: string;
  displayName?: string;
  /** True: the agent is disabled unless an override enables it. */
  experimental?: boolean;
  inputConfig: InputConfig;
  metadata?: { filePath?: string; hash?: string };
};

/** An agent that subcrew runs itself. */
export type LocalAgentDefinition<Schema = unknown> = BaseDefinition & {
  kind: "local";
  promptConfig: PromptConfig;
  modelConfig: GeminiModelConfig;
  runConfig: RunConfig;
  toolConfig?: { tools: readonly string[] };
  outputConfig?: OutputConfig<Schema>;
};

/** An agent that runs on a server and is reached by the A2A protocol. */
export type RemoteAgentDefinition = BaseDefinition & {
  kind: "remote";
  agentCardUrl?: string;
  agentCardJson?: string;
  auth?: Readonly<Record<string, unknown>>;
};

export type AgentDefinition<Schema = unknown> = LocalAgentDefinition<Schema> | RemoteAgentDefinition;

/** The frontmatter of one agent, with its prompt. */
export type AgentDto = Data;

/** The frontmatter of the file, with the body as `system_prompt`. */
export function dtoOf({ agent, raw }: ReadAgent): AgentDto {
  if (agent.remote !== undefined) return { ...raw, kind: "remote" };
  const tools = listOf(raw["tools"]);
  return { ...raw, ...(tools === undefined ? {} : { tools }), kind: "local", system_prompt: agent.instructions };
}

const DEFAULTS = { temperature: 1, topP: 0.95, maxTimeMinutes: 5, model: "inherit" } as const;

const QUERY: InputConfig = {
  inputs: { query: { type: "string", description: "The task for the agent.", required: false } },
};

/** The definition for a file's frontmatter, with Gemini CLI's defaults. */
export function markdownToAgentDefinition(dto: AgentDto): AgentDefinition {
  const base = {
    name: textOf(dto["name"]),
    description: textOf(dto["description"]),
    ...(dto["display_name"] === undefined ? {} : { displayName: textOf(dto["display_name"]) }),
    inputConfig: QUERY,
  };
  if (dto["kind"] === "remote") {
    return {
      kind: "remote",
      ...base,
      ...(dto["agent_card_url"] === undefined ? {} : { agentCardUrl: textOf(dto["agent_card_url"]) }),
      ...(dto["agent_card_json"] === undefined ? {} : { agentCardJson: textOf(dto["agent_card_json"]) }),
      ...(isRecord(dto["auth"]) ? { auth: dto["auth"] } : {}),
    };
  }
  const tools = listOf(dto["tools"]);
  return {
    kind: "local",
    ...base,
    promptConfig: { systemPrompt: textOf(dto["system_prompt"]), query: "${query}" },
    modelConfig: {
      model: textOf(dto["model"]) || DEFAULTS.model,
      generateContentConfig: { temperature: Number(dto["temperature"] ?? DEFAULTS.temperature), topP: DEFAULTS.topP },
    },
    runConfig: {
      ...(dto["max_turns"] === undefined ? {} : { maxTurns: Number(dto["max_turns"]) }),
      maxTimeMinutes: Number(dto["timeout_mins"] ?? DEFAULTS.maxTimeMinutes),
    },
    ...(tools === undefined ? {} : { toolConfig: { tools } }),
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** A definition as an agent that subcrew runs; a Zod schema becomes JSON Schema. */
export function agentFromDefinition(definition: AgentDefinition): Agent {
  const { name, description, displayName, inputConfig } = definition;
  const base = { name, description, inputs: inputConfig.inputs, ...(displayName === undefined ? {} : { displayName }) };
  if (definition.kind === "remote") {
    const { agentCardUrl, agentCardJson, auth } = definition;
    const remote = {
      ...(agentCardUrl === undefined ? {} : { cardUrl: agentCardUrl }),
      ...(agentCardJson === undefined ? {} : { cardJson: agentCardJson }),
      ...(auth === undefined ? {} : { auth }),
    };
    return { ...base, instructions: "", remote };
  }
  const { promptConfig, modelConfig, runConfig, toolConfig, outputConfig } = definition;
  const { temperature = modelConfig.temp, topP = modelConfig.top_p } = modelConfig.generateContentConfig ?? {};
  return {
    ...base,
    instructions: [prompted(definition), conversationOf(promptConfig.initialMessages), ownQuery(promptConfig.query)]
      .filter((part) => part !== "")
      .join("\n\n"),
    completion: "tool",
    model: modelConfig.model,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(toolConfig === undefined ? {} : { tools: [...new Set(toolConfig.tools.flatMap((name) => toolsNamed(name)))] }),
    ...(outputConfig === undefined
      ? {}
      : { output: schemaOf(outputConfig.schema), outputName: outputConfig.outputName }),
    limits: limitsOf(runConfig),
  };
}

/** The system prompt; it is required unless the definition has initial messages. */
function prompted({ name, promptConfig: { systemPrompt = "", initialMessages = [] } }: LocalAgentDefinition): string {
  if (systemPrompt.trim() !== "" || initialMessages.length > 0) return systemPrompt;
  throw new CrewError(
    "BAD_AGENT",
    `The agent "${name}" has no system prompt.`,
    "Set promptConfig.systemPrompt or promptConfig.initialMessages.",
  );
}

/** The initial messages of a definition as text. Inputs in them are filled in like inputs of the prompt. */
function conversationOf(messages: readonly unknown[] = []): string {
  const lines = messages.filter(isRecord).map(({ role, parts }) => {
    const texts = Array.isArray(parts) ? parts.filter(isRecord).map(({ text }) => textOf(text)) : [];
    return `${role === "model" ? "You" : "User"}: ${texts.join("\n")}`;
  });
  return lines.length === 0 ? "" : `The conversation so far:\n\n${lines.join("\n\n")}`;
}

/** The query of a definition; empty if it only passes on the caller's query. */
const ownQuery = (query: string | undefined): string => (query?.trim() === "${query}" ? "" : (query ?? ""));

function limitsOf({ maxTurns, max_turns, maxTimeMinutes, max_time_minutes }: RunConfig): ResourceLimits {
  const turns = maxTurns ?? max_turns;
  const minutes = maxTimeMinutes ?? max_time_minutes;
  return {
    ...(turns === undefined ? {} : { maxTurns: turns }),
    ...(minutes === undefined ? {} : { maxDurationMs: Math.round(minutes * 60_000) }),
  };
}

function schemaOf(schema: unknown): JsonSchema {
  // the schema itself is kept, because it may check more than JSON Schema can express
  if (isStandardSchema(schema)) return plainSchemaOf(schema);
  return isRecord(schema) ? schema : {};
}
