import { formatAgentList } from "../core/agent/list.ts";
import { type AgentCard, type Catalog, inScope, withWhySkipped } from "../core/delegation/catalog.ts";
import { DEFAULT_AGENT } from "../core/delegation/roster.ts";
import { allowedText, type Caller, nameRefusal, offered, spawnRefusal } from "../core/delegation/spawn.ts";
import type { Node, Plan } from "../core/plan/plan.ts";
import { type Task, taskSettings } from "../core/plan/task.ts";
import { isCrewError } from "../core/schema/error.ts";
import type { Tool, ToolContext, ToolResult } from "../core/task/tool.ts";
import { defined } from "../core/text/defined.ts";
import { COLLAPSED_ITEM_COUNT, MAX_CONCURRENCY } from "../core/vocabulary/limits.ts";
import { compile } from "../modes/compile.ts";
import { buildContext } from "../runtime/git/context.ts";
import { describeAgents } from "./agent-lines.ts";
import { delegating, type Facade } from "./facade.ts";
import { createAgentLookup } from "./look.ts";
import { buildDag } from "./parallel/dag.ts";
import { type ParallelCall, parallelCall, problemsIn, givenArguments, shownSchema } from "./parallel-input.ts";
import { detailsOf, type ParallelMode, parallelText } from "./parallel-results.ts";

/** The tool `parallel` of pi-parallel-agents: a call uses exactly one of five modes. */
export const parallelFacade: Facade = { tools: (caller, name) => [parallelTool(caller, name)] };

function parallelTool(caller: Caller, name: string): Tool {
  const look = createAgentLookup(caller);
  return Object.freeze<Tool>({
    name,
    description: describeAgents(offered(caller.catalog, caller), {
      before: BEFORE,
      after: AFTER,
    }),
    input: shownSchema,
    ...delegating,
    async run(asked, context) {
      const { now, news } = await look(context);
      const parsed = parallelCall.safeParse(givenArguments(asked));
      if (!parsed.success)
        return {
          text: `Invalid parameters. ${problemsIn(parsed.error)}${news}`,
          error: true,
          details: detailsOf("single"),
        };
      const given = parsed.data;
      const there = given.agentScope === undefined ? now : { ...now, agents: inScope(now, given.agentScope) };
      const cards = offered(there, caller);
      const modes = modesIn(given);
      const mode = modes[0];
      const said = (text: string, error: boolean, of: ParallelMode = mode ?? "single"): ToolResult => ({
        text: text + news,
        error,
        details: detailsOf(of),
      });
      if (mode === undefined || modes.length > 1)
        return said(`${INVALID}\n\n${availableText(cards, given)}`, false, "single");
      const judged = [...new Set(agentsIn(given))].map((agent) => ({ agent, why: spawnRefusal(agent, caller, there) }));
      const missing = judged.filter(({ why }) => why === "unknown" || why === "disabled").map(({ agent }) => agent);
      if (missing.length > 0) {
        const unknown = withWhySkipped(`${UNKNOWN[mode]}: ${missing.join(", ")}`, there, ...missing);
        return said(`${unknown}\n\n${availableText(cards, given)}`, false);
      }
      if (given.team && !hasWork(given.team)) return said(NO_WORK, false);
      const plan = planned(mode, given);
      if (typeof plan === "string") return said(plan, true);
      const refused = judged.find(({ why }) => why !== undefined)?.agent ?? refusedDefault(plan.nodes, caller);
      if (refused !== undefined) return said(`Cannot spawn '${refused}'. Allowed: ${allowedText(caller.spawns)}`, true);
      const full = await withContext(plan, given, { mode, context });
      const delegated = await context.delegate({ ...full, nodes: withCalledAgents(full.nodes, there) });
      const { nodes = {}, run = context.run } = delegated;
      const under = delegated.under === undefined ? undefined : `${run}/${delegated.under}`;
      const { team } = given;
      const details = detailsOf(mode, { nodes, plan, whole: delegated, team, chars: context.resultChars, under });
      return {
        text: parallelText(details, { objective: given.team?.objective, outcome: delegated }) + news,
        error: failedWhole(mode, delegated.status),
        details,
      };
    },
  });
}

const BEFORE = `Runs agents in one of five ways: task (one), tasks (in parallel), chain (one after the other), race (the first success wins) or team
(roles, dependencies, reviews). Give exactly one of these. Settings of a task take precedence over those of its agent. Agents:`;
const AFTER = `In tasks, {task_0} or {task:name} is replaced by the output of another task. [read-only] agents cannot change anything.`;
const INVALID = "Invalid parameters. Provide exactly one mode: task (single), tasks (parallel), chain, race, or team.";
const NO_WORK = "Team mode requires either a `tasks` array or each member must have a `task` field.";
const UNKNOWN: Readonly<Record<ParallelMode, string>> = {
  single: "Unknown agent",
  parallel: "Unknown agent(s)",
  chain: "Unknown agent(s) in chain",
  race: "Unknown agent(s) in race",
  team: "Unknown agent(s) in team",
};

/** The modes that a call names. */
export function modesIn({ task, tasks, chain, race: one, team }: ParallelCall): ParallelMode[] {
  const given: Readonly<Record<ParallelMode, unknown>> = {
    single: task,
    parallel: tasks,
    chain,
    race: one,
    team,
  };
  return (Object.keys(given) as ParallelMode[]).filter((mode) => given[mode] !== undefined);
}

const hasWork = ({ tasks = [], members = [] }: NonNullable<ParallelCall["team"]>): boolean =>
  tasks.length > 0 || members.some(({ task }) => task !== undefined);

function agentsIn({ agent, tasks, chain, race: one, team }: ParallelCall): string[] {
  const named = [
    { agent },
    ...(tasks ?? []),
    ...(chain ?? []),
    ...(one ? [one] : []),
    ...(team?.members ?? []),
    ...(team?.tasks ?? []),
  ];
  return [...named.flatMap((each) => each.agent ?? []), ...(one?.agents ?? [])];
}

/**
 * Why the default agent is refused, if a task names no agent: such a task goes to the default agent, which must be
 * allowed, too.
 */
function refusedDefault(nodes: Readonly<Record<string, Node>>, { spawns }: Caller): string | undefined {
  if (nameRefusal(DEFAULT_AGENT, { spawns }) === undefined) return undefined;
  const unnamed = (node: Node): boolean =>
    node.kind === "loop"
      ? Object.values(node.body.nodes).some(unnamed)
      : node.kind === "task" && node.task.agent === undefined;
  return Object.values(nodes).some(unnamed) ? DEFAULT_AGENT : undefined;
}

function availableText(cards: readonly AgentCard[], { agentScope }: ParallelCall): string {
  const scope = agentScope ?? (cards.some(({ source }) => source === "project") ? "both" : "user");
  const { text, remaining } = formatAgentList(
    cards.map((card) => ({ source: "user", ...card })),
    COLLAPSED_ITEM_COUNT,
  );
  return `Available agents [${scope}]: ${text}${remaining > 0 ? `; ... +${remaining} more` : ""}`;
}

/** The plan for a call, or a text about what is wrong with the call. */
function planned(mode: ParallelMode, { agentScope: _scope, ...given }: ParallelCall): Plan | string {
  try {
    if (given.team?.tasks)
      buildDag(given.team.tasks, new Map((given.team.members ?? []).map((member) => [member.role, member])));
    const plan = compile({ mode, ...own(mode, given) });
    return { ...plan, concurrency: Math.min(plan.concurrency ?? MAX_CONCURRENCY, MAX_CONCURRENCY) };
  } catch (error) {
    if (!isCrewError(error)) throw error;
    return mode === "team" ? `Team DAG error: ${error.message}` : `${error.message} ${error.hint}`;
  }
}

/** The agents of a race: the agents that the race names, or else the agents of the call. */
function own(mode: ParallelMode, given: Omit<ParallelCall, "agentScope">): object {
  if (mode !== "race") return given;
  const settings = Object.fromEntries(
    Object.keys(taskSettings).map((key) => [key, given[key as keyof typeof taskSettings]]),
  );
  const rest = Object.fromEntries(Object.entries(given).filter(([key]) => !Object.hasOwn(taskSettings, key)));
  const said = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  return { ...rest, race: { ...said, ...given.race } };
}

/**
 * Adds the context in a call to every task. Files are named, not read: the agents read them with their own permissions.
 * The git state is shown without files that the caller may not read.
 */
async function withContext(
  plan: Plan,
  { context: text, contextFiles = [], gitContext }: ParallelCall,
  { mode, context }: Readonly<{ mode: ParallelMode; context: ToolContext }>,
): Promise<Plan> {
  const { context: _built, ...rest } = plan;
  const wished = gitContext ?? (mode === "parallel" || mode === "team");
  const { access } = context;
  const built = await buildContext(
    context.cwd,
    { ...defined({ context: text }), gitContext: wished },
    access && { closedIn: access.closedIn },
  );
  const files = contextFiles.length === 0 ? "" : `Read these files first: ${contextFiles.join(", ")}`;
  const preface = [built, files].filter((part) => part !== "").join("\n\n");
  return preface === "" ? rest : { ...rest, nodes: prefaced(rest.nodes, preface) };
}

const prefaced = (nodes: Readonly<Record<string, Node>>, preface: string): Record<string, Node> =>
  mapTasks(nodes, (task) => ({
    ...task,
    preface: [preface, task.preface ?? ""].filter((part) => part !== "").join("\n\n"),
  }));

/** Replaces the names of agents of another scope by the qualified names that select these agents. */
function withCalledAgents(nodes: Readonly<Record<string, Node>>, { agents }: Catalog): Readonly<Record<string, Node>> {
  const called = new Map(agents.flatMap(({ name, called: other }) => (other === undefined ? [] : [[name, other]])));
  if (called.size === 0) return nodes;
  return mapTasks(nodes, (task) => ({ ...task, ...defined({ agent: called.get(task.agent ?? "") ?? task.agent }) }));
}

function mapTasks(nodes: Readonly<Record<string, Node>>, change: (task: Task) => Task): Record<string, Node> {
  return Object.fromEntries(
    Object.entries(nodes).map(([id, node]): [string, Node] => {
      if (node.kind === "loop")
        return [id, { ...node, body: { ...node.body, nodes: mapTasks(node.body.nodes, change) } }];
      return [id, node.kind === "task" ? { ...node, task: change(node.task) } : node];
    }),
  );
}

/** True if a call failed as a whole. A call with several parallel tasks never does: each result is in the text. */
const failedWhole = (mode: ParallelMode, status: string): boolean =>
  status !== "ok" && (mode === "single" || mode === "race" || mode === "chain");
