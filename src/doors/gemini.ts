export {
  agentFromDefinition,
  type AgentDefinition,
  type AgentDto,
  type InputConfig,
  type LocalAgentDefinition,
  markdownToAgentDefinition,
  type ModelConfig,
  type OutputConfig,
  type PromptConfig,
  type RemoteAgentDefinition,
  type RunConfig,
} from "../formats/dialects/gemini-definition.ts";
export { type AgentTerminateMode } from "../facades/invocation.ts";
export { localInvocation, type SubagentInvocation } from "./gemini-invocation.ts";
export { isValidToolName } from "../formats/dialects/gemini-schema.ts";
export { AgentLoadError, loadAgentsFromDirectory, parseAgentMarkdown } from "./gemini-load.ts";
export { type AgentOverride, AgentRegistry, getModelConfigAlias, type RegistryConfig } from "./gemini-registry.ts";
export { convertInputConfigToJsonSchema } from "../core/agent/inputs.ts";
export { templateString } from "../core/text/input-template.ts";
