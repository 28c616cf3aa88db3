export { type Agent, defineAgent } from "../core/agent.ts";
export { type AgentList, formatAgentList } from "../core/agent-list.ts";
export { AGENT_NAME } from "../core/agent-name.ts";
export { type Arguments, expandCommand, expandSkill } from "../core/arguments.ts";
export type { Dialect, Dialects, ReadAgent, Reading } from "../core/dialect.ts";
export type { Problem } from "../core/problem.ts";
export { describeOrigin, type Origin } from "../core/provenance.ts";
export { agentFor, type Skill, type WorkflowCommand } from "../core/skill.ts";
export { toolMatches, toolsNamed, toolSpellings } from "../core/tool-names.ts";
export { type AgentFields, parseAgentFields } from "../formats/agent-fields.ts";
export { readInlineAgents } from "../formats/inline.ts";
export { loadAgentModule } from "../formats/module.ts";
export { dialects } from "../formats/table.ts";
export { convert as convertAgent, type Converted } from "../formats/write/convert.ts";
export type { Loss } from "../formats/write/losses.ts";
export {
  createDiscoveryCache,
  type Discovery,
  type DiscoveryCache,
  findAgent,
  type FoundAgent,
  getAgent,
  qualifiedNames,
  type Trust,
} from "../runtime/discover.ts";
export { explainFields, type ExplainedField } from "../runtime/discover-explain.ts";
export { families, presets, type PresetName } from "../runtime/sources.ts";
export { type AgentConfig, resolveAgentInheritance } from "./agent-config.ts";
export { type InlineSettings, resolveAgentSettings } from "./agent-settings.ts";
export {
  type AgentDiscoveryResult,
  clearBundledAgentsCache,
  discoverAgents,
  findNearestProjectAgentsDir,
  loadAgentsFromDir,
  loadBundledAgents,
} from "./discover-agents.ts";
export {
  discoverCommands,
  discoverSkills,
  getCommand,
  getSkill,
  type WorkflowOptions,
} from "./workflows.ts";
