export { type Agent, defineAgent } from "../core/agent/agent.ts";
export type { Dialect, Dialects, ParsedFile, ReadAgent } from "../core/agent/dialect.ts";
export { type AgentList, formatAgentList } from "../core/agent/list.ts";
export { agentFor, type Skill, type WorkflowCommand } from "../core/agent/skill.ts";
export { expandCommand, expandSkill, type SkillArguments } from "../core/agent/skill-arguments.ts";
export { AGENT_NAME } from "../core/vocabulary/agent-name.ts";
export type { Problem } from "../core/vocabulary/file-problem.ts";
export { describeOrigin, type FieldOrigin } from "../core/vocabulary/provenance.ts";
export { toolMatches, toolSpellings, toolsNamed } from "../core/vocabulary/tool-names.ts";
export { type AgentFields, parseAgentFields } from "../formats/agent-fields.ts";
export { readInlineAgents } from "../formats/inline.ts";
export { loadAgentModule } from "../formats/module.ts";
export { dialects } from "../formats/table.ts";
export { type ConvertedAgent, convert as convertAgent } from "../formats/write/convert.ts";
export type { Loss } from "../formats/write/losses.ts";
export {
  createDiscoveryCache,
  type Discovery,
  type DiscoveryCache,
  type FoundAgent,
  findAgent,
  getAgent,
  qualifiedNames,
  type Trust,
} from "../runtime/discovery/discover.ts";
export { type ExplainedField, explainFields } from "../runtime/discovery/explain.ts";
export { agentFamilies as families, type PresetName, presets } from "../runtime/discovery/sources.ts";
export { type AgentConfig, resolveAgentInheritance } from "../compat/omp/agent-config.ts";
export { type InlineSettings, resolveAgentSettings } from "../compat/pi-parallel/agent-settings.ts";
export {
  type AgentDiscoveryResult,
  clearBundledAgentsCache,
  discoverAgents,
  findNearestProjectAgentsDir,
  loadAgentsFromDir,
  loadBundledAgents,
} from "../compat/omp/discover-agents.ts";
export {
  discoverCommands,
  discoverSkills,
  getCommand,
  getSkill,
  type WorkflowOptions,
} from "./workflows.ts";
