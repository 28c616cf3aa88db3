export { type Agent, type DefinedAgent, defineAgent } from "./core/agent/agent.ts";
export { type Message, type Model, type ModelEvent, type ModelRequest } from "./core/model/model.ts";
export { type FaultCode } from "./core/outcome/fault-codes.ts";
export { type Fault, type Outcome } from "./core/outcome/outcome-schema.ts";
export { parsePlan } from "./core/plan/check.ts";
export { type Node, type Plan } from "./core/plan/plan.ts";
export { type Task } from "./core/plan/task.ts";
export { type Permissions } from "./core/policy/permissions.ts";
export { type Event } from "./core/run/event.ts";
export { type Result } from "./core/run/result.ts";
export { emptyState, type NodeView, reduce, type State } from "./core/run/state.ts";
export { type Change } from "./core/schedule/change.ts";
export { CrewError, type ErrorCode } from "./core/schema/error.ts";
export { type OutputOf, type StandardSchema } from "./core/schema/standard-schema.ts";
export { defineTool, type Tool, type ToolContext, type ToolResult } from "./core/task/tool.ts";
export type { CrewOptions } from "./crew/outfit/options.ts";
export type { ResumeOptions, RunOptions } from "./crew/prepare/run-options.ts";
export type { RunInput } from "./crew/run-input.ts";
export { createCrew } from "./crew.ts";
export type { Crew } from "./crew/crew-type.ts";
export { type DelegationOptions, type OpenedDelegation, openDelegation } from "./doors/delegation.ts";
export { Subagent, type SubagentConfig, type TaskOutput } from "./compat/mycode/subagent.ts";
export { type LanguageModel } from "./models/ai-sdk/is-language-model.ts";
export { type ModelOverview } from "./models/registry/overview.ts";
export { type ProviderSettings } from "./models/registry/provider.ts";
export {
  createModelRegistry,
  type ModelRegistry,
  type ModelRegistryConfig,
  type ResolvedModel,
} from "./models/registry/registry.ts";
export { compile, type Input, type Mode } from "./modes/compile.ts";
export { type Run } from "./runtime/run/run.ts";
