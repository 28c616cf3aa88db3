import type { Agent } from "../../core/agent/agent.ts";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import { agentRuleText } from "../../core/rules/agent-rule.ts";
import { DELEGATION_TOOL } from "../../core/vocabulary/tool-names.ts";
import { fitsBody, frontmatter } from "./markdown.ts";
import { described, fileName, some, type Writer, writtenKeys } from "./writer.ts";

/** Writes subcrew's own agent files, which can express everything. */
export const ownWriter: Writer = {
  folder: ".agents/agents",
  file: (name) => `${fileName(name)}.md`,
  carries: "color hooks metadata version author license tags".split(" "),
  write: (read, extra) => frontmatter(writtenKeys({ ...keysOf(read), ...extra }), bodyOf(read)),
};

function keysOf({ agent, disabled, aliases }: ReadAgent): Record<string, unknown> {
  return {
    name: agent.name,
    description: described(agent),
    displayName: agent.displayName,
    whenToUse: agent.whenToUse,
    aliases: some(aliases?.filter((alias) => alias !== agent.displayName)),
    extends: agent.extends,
    tools: agent.tools?.flatMap((tool) => (tool === DELEGATION_TOOL ? (agent.delegation ?? tool) : tool)),
    disallowedTools: some(agent.disallowedTools),
    rules: rulesOf(agent),
    spawns: agent.spawns,
    delegation: agent.delegationRule,
    modelLock: agent.modelLock,
    projectInstructions: agent.projectInstructions,
    mcpServers: agent.mcpServers,
    model: agent.model,
    thinking: agent.thinking,
    temperature: agent.temperature,
    topP: agent.topP,
    limits: agent.limits,
    completion: agent.completion,
    summaryChars: agent.summaryChars,
    summaryCut: agent.summaryCut,
    summary: agent.summary,
    permissionMode: agent.permission === "bypass" ? "bypassPermissions" : agent.permission,
    sandbox: agent.sandbox,
    skills: agent.skills,
    background: agent.background,
    isolation: agent.isolation,
    conversation: agent.conversation,
    runner: agent.runner,
    memory: agent.memory,
    cache: agent.cacheMs === undefined ? undefined : `${agent.cacheMs}ms`,
    hidden: agent.hidden,
    inputs: agent.inputs,
    remote: agent.remote,
    enabled: disabled ? false : undefined,
    outputName: agent.outputName,
    output: agent.output,
    systemPrompt: inBody(agent) ? undefined : agent.instructions,
  } satisfies Complete;
}

/**
 * The rules as they are written to a file: one list as a list, several lists as a list of lists, because each list
 * restricts on its own.
 */
function rulesOf({ rules = [] }: Agent): unknown {
  const lists = rules.map((list) => list.map(agentRuleText));
  return lists.length > 1 ? lists : lists[0];
}

/**
 * Makes the compiler report a field that `ownWriter` does not write. The excluded fields are written under another key,
 * or as the body of the file.
 */
type Complete = Record<string, unknown> &
  Record<
    Exclude<
      keyof Agent,
      | "modelRequired"
      | "source"
      | "instructions"
      | "documentation"
      | "permission"
      | "cacheMs"
      | "delegation"
      | "delegationRule"
    >,
    unknown
  >;

/**
 * True if the agent's prompt is written as the body of the file. The file must have no documentation in that place, and
 * reading the file must give the same text.
 */
const inBody = ({ instructions, documentation }: ReadAgent["agent"]): boolean =>
  documentation === undefined && fitsBody(instructions);

const bodyOf = ({ agent }: ReadAgent): string => (inBody(agent) ? agent.instructions : (agent.documentation ?? ""));
