import type { Agent } from "../../core/agent/agent.ts";
import { type Catalog, emptyCatalog } from "../../core/delegation/catalog.ts";
import { atMaxDepth, delegationToolsOf } from "../../core/delegation/spawn.ts";
import type { Spawns } from "../../core/vocabulary/spawn-list.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import { barred } from "../../core/policy/judge-call.ts";
import { isFinishTool, permit, type Rights, rightTo } from "../../core/policy/permit.ts";
import type { Policy } from "../../core/policy/policy.ts";
import type { Call } from "../../core/task/engine.ts";
import { changesSomething, type Tool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { facadeOf } from "../../core/vocabulary/delegation-names.ts";
import { classOf } from "../../core/vocabulary/tool-class.ts";
import { DELEGATION_TOOL, toolMatches } from "../../core/vocabulary/tool-names.ts";
import { type AssignedAgent, type AssignRequest, effectiveAgent } from "./assign-agent.ts";
import type { World } from "./world.ts";

/** The tools that exist for a task, and which of them its agent may see and call. */
export type AssignedTools = Readonly<{
  tools: ReadonlyMap<string, Tool>;
  rights: Rights;
  /** The agents that the task may start. */
  spawns: Spawns;
  /** The available agents; absent when the task has no delegation tool. */
  catalog?: Catalog;
}>;

/**
 * Second step of assigning a task: collects the built-in, delegation and MCP tools. An agent that names tools of which
 * none exists is refused.
 */
export async function assignTools(
  request: AssignRequest,
  { name, definition, agent }: Pick<AssignedAgent, "name" | "definition" | "agent">,
): Promise<AssignedTools | FailedOutcome> {
  const { call, world } = request;
  const delegation = await delegationOf(request, agent);
  const peers = await peersOf(request, agent);
  const more = [...(delegation?.tools ?? []), ...peers];
  const tools = more.length === 0 ? world.tools : new Map([...world.tools, ...more.map(named)]);
  const policy = world.access?.policyFor(agent, call.policy);
  const ceiling = ceilingOf(call);
  const isPlain = !delegation && !ceiling && !call.task.planOnly;
  const known = isPlain ? plainRights.get(tools)?.get(agent) : undefined;
  const own: Rights = known?.own ?? rightsOf(delegation?.agent ?? agent, delegation?.tools ?? []);
  const wanted = (agent.tools ?? []).filter((tool) => !isFinishTool(tool));
  if (wanted.length > 0 && ![...tools.keys()].some((tool) => permit(own, tool).allowed)) {
    return failed("DENIED", `None of the tools of "${name}" exists here: ${wanted.join(", ")}.`, {
      hint: "Correct the tools in the agent file, or list none to allow all.",
    });
  }
  const rights: Rights =
    known && known.policy === policy
      ? known.rights
      : {
          ...own,
          ...defined({ ceiling }),
          barred: {
            ...(policy && barredBy({ tools }, policy)),
            ...delegation?.barred,
            ...(call.task.planOnly && writingTools(tools)),
          },
        };
  if (isPlain && known?.rights !== rights) {
    const ofTools = plainRights.get(tools) ?? new WeakMap<Agent, PlainRights>();
    plainRights.set(tools, ofTools.set(agent, { own, policy, rights }));
  }
  sayReduced(request, { definition, agent, own, rights, tools });
  return {
    tools,
    rights,
    spawns: delegation?.spawns ?? [],
    ...(more.length > peers.length && delegation && { catalog: delegation.catalog }),
  };
}

const named = (tool: Tool): [string, Tool] => [tool.name, tool];

const rightsOf = ({ name, tools, disallowedTools }: Agent, delegation: readonly Tool[]): Rights => ({
  name,
  ...defined({ tools, disallowedTools }),
  delegation: delegation.map((tool) => tool.name),
});

/** An agent's rights to the tools of a crew, and the policy from which they were computed. */
type PlainRights = Readonly<{ own: Rights; policy: Policy | undefined; rights: Rights }>;

/**
 * Cache of rights. Tasks of one agent have the same rights if they have the same tools, cannot start agents and are not
 * limited by a parent: each tool is then judged only once.
 */
const plainRights = new WeakMap<ReadonlyMap<string, Tool>, WeakMap<Agent, PlainRights>>();

/**
 * Reports that an agent works with fewer tools than its file names: the file had to be repaired, or a limit of a parent
 * removed some.
 */
function sayReduced(
  { call, world, emit }: AssignRequest,
  {
    definition,
    agent,
    own,
    rights,
    tools,
  }: Readonly<{ definition: Agent; agent: Agent; own: Rights; rights: Rights; tools: ReadonlyMap<string, Tool> }>,
): void {
  const { name: told, source } = agent;
  if (source?.reduced !== undefined) emit({ type: "rights.reduced", agent: told, lost: [], reason: source.reduced });
  if (call.depth === 0) return;
  const { tools: listed } = effectiveAgent(definition, call, world.settings.schemaPrecedence);
  const { tools: _cut, ...rest } = own;
  const before: Rights = { ...rest, ...defined({ tools: listed }) };
  const lost = [...tools.keys()].filter(
    (tool) => rightTo(own, tool) !== DELEGATION_TOOL && permit(before, tool).allowed && !permit(rights, tool).allowed,
  );
  if (lost.length === 0) return;
  const reasons = [...new Set(lost.map((tool) => permit(rights, tool).rule))];
  emit({ type: "rights.reduced", agent: told, lost, reason: reasons.slice(0, 3).join("; ") });
}

/** Upper bound of a task's tools: the tools of its parent, and the tools that it had before a resume. */
function ceilingOf({ ceiling, recordedRights }: Call): readonly string[] | undefined {
  return ceiling && recordedRights
    ? recordedRights.filter((tool) => ceiling.includes(tool))
    : (recordedRights ?? ceiling);
}

type DelegationTools = Readonly<{
  /** The agent, with delegation tools added to its tools. */
  agent: Agent;
  spawns: Spawns;
  tools: readonly Tool[];
  barred: Readonly<Record<string, string>>;
  catalog: Catalog;
}>;

/**
 * The delegation tools of a task, if it has any. At the maximum depth they still exist, so that a call of such a tool
 * is refused with the reason. But no model is shown them, and there is no agent that they could start.
 */
async function delegationOf(
  { call: { depth, maxDepth = -1, fork }, world: { roster, delegation, settings } }: AssignRequest,
  agent: Agent,
): Promise<DelegationTools | undefined> {
  const spellings = spellingsOf(agent, fork, settings.delegationTools);
  if (!delegation || spellings.length === 0) return undefined;
  const catalog = roster.catalog?.() ?? emptyCatalog;
  const deepest = atMaxDepth({ depth, maxDepth });
  const spawns = deepest ? [] : (agent.spawns ?? "*");
  const tools = await delegation(spellings, {
    agent: agent.name,
    spawns,
    depth,
    maxDepth,
    catalog,
    ...(isRecord(agent.output) && { schema: agent.output }),
  });
  const rule = `the maximum delegation depth of ${maxDepth} is reached`;
  return {
    agent: agent.tools ? { ...agent, tools: [...agent.tools, DELEGATION_TOOL] } : agent,
    spawns,
    tools,
    catalog,
    barred: deepest ? { [DELEGATION_TOOL]: rule } : {},
  };
}

/**
 * The names of an agent's delegation tools; a forked subagent uses the names in the conversation that it starts from.
 * `usual`: the delegation tools of the settings, which also replace those of subcrew's own agents, such as the main
 * agent of a chat.
 */
function spellingsOf(agent: Agent, fork: Call["fork"], usual: readonly string[] | undefined): readonly string[] {
  const { kind, family } = agent.source ?? {};
  const isOurs = usual !== undefined && kind === "bundled" && family === undefined;
  const named = delegationToolsOf(agent).flatMap((tool) =>
    isOurs || tool === DELEGATION_TOOL ? (usual ?? [DELEGATION_TOOL]) : [tool],
  );
  const own = [...new Set(named)];
  if (!fork || own.length === 0) return own;
  const there = fork.tools.map(({ name }) => name).filter((tool) => facadeOf(tool) !== undefined);
  return there.length > 0 ? there : own;
}

/** How long MCP servers have to start and to list their tools. */
const PEERS_MS = 60_000;

/**
 * The tools of MCP servers. A server's claim that a tool only reads is believed only where a rule of the user trusts
 * the tool.
 */
async function peersOf(
  { call, world: { peers, access }, emit }: AssignRequest,
  agent: Agent,
): Promise<readonly Tool[]> {
  if (!peers) return [];
  const { run, policy } = call;
  const allow = access?.policyFor(agent, policy).allow ?? [];
  let limit: AbortSignal | undefined;
  return peers.toolsFor({
    agent,
    run,
    ...defined({ ceiling: ceilingOf(call) }),
    isTrusted: (tool) => allow.some((rule) => rule.pattern === undefined && toolMatches(rule.tool, tool)),
    say: (text, code = "MCP") => emit({ type: "warning", code, text }),
    note: (text) => emit({ type: "note", text }),
    signal: () => (limit ??= AbortSignal.timeout(PEERS_MS)),
  });
}

/** The tools that change something or start agents, which a task does not get before its plan is approved. */
function writingTools(tools: ReadonlyMap<string, Tool>): Record<string, string> {
  const writing = [...tools.values()].filter(changesSomething);
  return {
    [DELEGATION_TOOL]: NOT_APPROVED,
    ...Object.fromEntries(writing.map(({ name }) => [name, NOT_APPROVED])),
  };
}

const NOT_APPROVED = "its plan has to be approved first";

/** The tools that a policy never allows, each with the rule that forbids it: no model is shown them. */
export function barredBy({ tools }: Pick<World, "tools">, policy: Policy): Record<string, string> {
  return Object.fromEntries(
    [...tools.values()].flatMap((tool) => {
      const rule = barred(policy, { tool: tool.name, does: classOf(tool), effect: tool.effect });
      return rule === undefined ? [] : [[tool.name, rule]];
    }),
  );
}

/** True for a task that may use a tool that changes something. */
export const canChangeSomething = ({ tools, rights }: Pick<AssignedTools, "tools" | "rights">): boolean =>
  [...tools.values()].some((tool) => changesSomething(tool) && permit(rights, tool.name).allowed);
