export { convertInputConfigToJsonSchema } from "../core/agent/inputs.ts";
export { templateString } from "../core/text/input-template.ts";
export { type AgentInputs, type AgentTerminateMode, type OutputObject } from "../facades/invocation.ts";
export {
  type AgentDefinition,
  type AgentDto,
  agentFromDefinition,
  type GeminiModelConfig as ModelConfig,
  type InputConfig,
  type LocalAgentDefinition,
  markdownToAgentDefinition,
  type OutputConfig,
  type PromptConfig,
  type RemoteAgentDefinition,
  type RunConfig,
} from "../formats/dialects/gemini-definition.ts";
export { isValidToolName } from "../formats/dialects/gemini-schema.ts";
export { localInvocation, type SubagentActivityEvent, type SubagentInvocation } from "../compat/gemini/invocation.ts";
export { AgentLoadError, loadAgentsFromDirectory, parseAgentMarkdown } from "../compat/gemini/load-agents.ts";
export {
  type AgentOverride,
  AgentRegistry,
  type GeminiRegistryConfig as RegistryConfig,
  getModelConfigAlias,
} from "../compat/gemini/registry.ts";
