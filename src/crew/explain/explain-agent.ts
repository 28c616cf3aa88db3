import type { Agent } from "../../core/agent/agent.ts";
import type { Dialects } from "../../core/agent/dialect.ts";
import { maskAuth } from "../../core/agent/mask-auth.ts";
import { delegationToolsOf } from "../../core/delegation/spawn.ts";
import { spawnsText } from "../../core/vocabulary/spawn-list.ts";
import type { Task } from "../../core/plan/task.ts";
import { isFinishTool, leadOf, permit } from "../../core/policy/permit.ts";
import { rulesFor } from "../../core/policy/policy.ts";
import { agentRuleText } from "../../core/rules/agent-rule.ts";
import type { Problem } from "../../core/vocabulary/file-problem.ts";
import { DEFAULT_LIMITS, type ResourceLimits } from "../../core/vocabulary/limits.ts";
import { wholeServer } from "../../core/vocabulary/mcp-server.ts";
import type { FieldOrigin } from "../../core/vocabulary/provenance.ts";
import { isOfServer, type KnownServer, serverPatterns } from "../../core/vocabulary/server-patterns.ts";
import { DELEGATION_TOOL, toolMatches } from "../../core/vocabulary/tool-names.ts";
import type { FoundAgent } from "../../runtime/discovery/discover-found.ts";
import { type ExplainedField, originsOf } from "../../runtime/discovery/explain.ts";
import { effectiveAgent } from "../../runtime/task/assign-agent.ts";

/** The settings that the flags of a command override, by flag name. */
export type ExplainedCall = Readonly<
  Partial<Pick<Task, "model" | "thinking" | "tools" | "resourceLimits">> & {
    flags: Readonly<Partial<Record<"model" | "thinking" | "tools" | keyof ResourceLimits, string>>>;
  }
>;

export type ExplainOptions = Readonly<{
  dialects: Dialects;
  call: ExplainedCall;
  /** The names of the available tools. */
  tools: readonly string[];
  /** The MCP servers available to the agent; none is started. */
  servers: readonly KnownServer[];
  /** The user's permission rule that forbids a tool, if any. */
  barredBy(tool: string): string | undefined;
  /** The file and the line that contain a setting. */
  placeOf(key: string): Readonly<{ file: string; line?: number }> | undefined;
}>;

/** Whether an agent has a tool, and which rule decided. */
export type ExplainedTool = Readonly<{
  name: string;
  allowed: boolean;
  /** True: the tool is allowed but does not exist. */
  missing?: true;
  rule: string;
  origin: FieldOrigin;
  /** The MCP server of the tool; whether the server really has the tool is known only when a run starts it. */
  server?: Readonly<{ name: string; what: string }>;
}>;

/** An agent as it would be executed, and where each of its values comes from. */
export type AgentExplanation = Readonly<{
  agent: Agent;
  fields: readonly ExplainedField[];
  limits: readonly ExplainedField[];
  tools: readonly ExplainedTool[];
  problems: readonly Problem[];
}>;

/** Explains an agent. The lines of its file are looked up at this time. */
export function explainAgent(found: FoundAgent, options: ExplainOptions): AgentExplanation {
  const { call, tools, servers } = options;
  const { flags, ...settings } = call;
  const agent = effectiveAgent(found.agent, { task: { ...settings, prompt: "-" }, depth: 0 });
  const model = call.model === undefined ? {} : { model: call.model };
  const whole: Agent = { ...agent, ...model };
  const trace = tracer(options);
  const fields = Object.entries(whole)
    .filter(([field, value]) => field !== "source" && field !== "limits" && value !== undefined)
    .map(([field, value]) => ({
      field,
      value: field === "remote" && agent.remote ? maskAuth(agent.remote) : value,
      origin: callOrigin(flags, call, field) ?? trace(found, field),
    }));
  const named = [...namedIn(found), ...(agent.tools ?? [])];
  const ours = [...new Set([...tools, ...named])].filter(isOneTool).map((name): Explained => ({ name }));
  const theirs = serverPatterns(servers, named).map(({ pattern, server }): Explained => ({ name: pattern, server }));
  return {
    agent: whole,
    fields,
    limits: limitsOf(found, options, trace),
    // A remote agent has its own tools, so none are listed.
    tools: (agent.remote ? [] : [...ours, ...theirs]).map((one) =>
      explainTool({ ...one, found, agent: whole, options, trace }),
    ),
    problems: found.problems,
  };
}

type Trace = (found: FoundAgent, field: string) => FieldOrigin;

/** Traces the value of a field through base agents and settings to the line that sets it. */
function tracer({ dialects, placeOf }: ExplainOptions): Trace {
  const known = new Map<FoundAgent, (field: string) => FieldOrigin>();
  const originOf = (found: FoundAgent): ((field: string) => FieldOrigin) => {
    const before = known.get(found) ?? originsOf(found, dialects);
    known.set(found, before);
    return before;
  };
  const trace: Trace = (found, field) => {
    const origin = originOf(found)(field);
    if (origin.from === "settings") return { ...origin, ...placeOf(origin.key) };
    return origin.from === "base" && found.base !== undefined ? through(origin, trace(found.base, field)) : origin;
  };
  return trace;
}

/**
 * The origin of a value that comes from a base agent; values that apply to every agent are not attributed to the base.
 */
const through = (origin: Extract<FieldOrigin, { from: "base" }>, at: FieldOrigin): FieldOrigin =>
  at.from === "settings" && !at.key.startsWith("agents.") ? at : { ...origin, at };

function callOrigin(flags: ExplainedCall["flags"], call: ExplainedCall, field: string): FieldOrigin | undefined {
  if (field !== "model" && field !== "thinking" && field !== "tools") return undefined;
  return call[field] === undefined ? undefined : { from: "call", key: flags[field] ?? field };
}

type LimitName = keyof typeof DEFAULT_LIMITS;

/** Each effective limit and its source: the smallest value wins. */
function limitsOf(found: FoundAgent, { call }: ExplainOptions, trace: Trace): ExplainedField[] {
  return (Object.keys(DEFAULT_LIMITS) as LimitName[]).flatMap((name): ExplainedField[] => {
    const [ours, asked] = [found.agent.limits?.[name], call.resourceLimits?.[name]];
    const byCall = asked !== undefined && (ours === undefined || asked <= ours);
    const value = byCall ? asked : (ours ?? DEFAULT_LIMITS[name]);
    if (value === Number.POSITIVE_INFINITY) return [];
    const origin: FieldOrigin = byCall
      ? { from: "call", key: call.flags[name] ?? name }
      : ours === undefined
        ? { from: "default" }
        : limitOrigin(found, name, trace);
    return [{ field: name, value, origin }];
  });
}

/** The origin of a limit. The base agent and the agent itself may both set it; the smaller limit applies. */
function limitOrigin(found: FoundAgent, name: LimitName, trace: Trace): FieldOrigin {
  const field = `limits.${name}`;
  if (found.origins[field] !== undefined) return trace(found, field);
  const own = found.read.agent.limits?.[name];
  if (own === found.agent.limits?.[name] || found.base === undefined) return trace(found, field);
  const { base } = found;
  const { name: whose, file } = base;
  return through(
    { from: "base", base: whose, ...(file === undefined ? {} : { file }) },
    limitOrigin(base, name, trace),
  );
}

type Explained = Readonly<{ name: string; server?: KnownServer | undefined }>;

type Asked = Explained &
  Readonly<{
    found: FoundAgent;
    agent: Agent;
    options: ExplainOptions;
    trace: Trace;
  }>;

function explainTool({ name, server, found, agent, options, trace }: Asked): ExplainedTool {
  const told = server && { server: { name: server.name, what: server.what } };
  if (server?.shut !== undefined)
    return { name, allowed: false, ...shuttings[server.shut](server, { found, options, trace }), ...told };
  const bar = options.barredBy(name);
  const delegation = name === DELEGATION_TOOL ? delegationToolsOf(agent) : [];
  const able: Agent =
    delegation.length > 0 && agent.tools ? { ...agent, tools: [...agent.tools, DELEGATION_TOOL] } : agent;
  const { allowed, rule } = permit(
    {
      ...able,
      ...(delegation.length > 0 && { delegation: [DELEGATION_TOOL] }),
      ...(bar !== undefined && { barred: { [name]: bar } }),
    },
    name,
  );
  const denied = !allowed && covers(agent.disallowedTools, name);
  const shut = bar !== undefined;
  const origin: FieldOrigin = shut
    ? shutOrigin(found, options, trace)
    : denied
      ? toolOrigin(found, "disallowedTools", name, trace)
      : listOrigin();
  const missing = allowed && !server && !options.tools.includes(name) && !isFinishTool(name);
  return {
    name,
    allowed,
    ...(missing ? { missing } : {}),
    rule: `${ruleOf({ name, allowed, denied, shut, rule, agent, server })}${allowed ? boundsOf(agent, name) : ""}`,
    origin,
    ...told,
  };

  function listOrigin(): FieldOrigin {
    if (options.call.tools !== undefined) return { from: "call", key: options.call.flags.tools ?? "tools" };
    if (agent.tools === undefined) return { from: "default", rule: "no list of tools" };
    return toolOrigin(found, "tools", name, trace);
  }
}

/** The texts that say why an agent cannot use any tool of an MCP server. */
const shuttings: Readonly<
  Record<
    NonNullable<KnownServer["shut"]>,
    (server: KnownServer, asked: Pick<Asked, "found" | "options" | "trace">) => Pick<ExplainedTool, "rule" | "origin">
  >
> = {
  off: ({ name }, { options: { placeOf } }) => {
    const key = `mcpServers.${name}.enabled`;
    return { rule: "the server is disabled", origin: { from: "settings", key, ...placeOf(key) } };
  },
  unlisted: (_, { found, trace }) => ({
    rule: "the server is not among the servers of the agent",
    origin: trace(found, "mcpServers"),
  }),
};

/** Why an agent gets no tools of an MCP server: a read-only agent file, or the user's rules. */
function shutOrigin(found: FoundAgent, { placeOf }: ExplainOptions, trace: Trace): FieldOrigin {
  if (found.agent.permission === "plan") return trace(found, "permission");
  const place = placeOf("permissions.deny") ?? placeOf("permissions.mode");
  return { from: "settings", key: "permissions", ...place };
}

type Decided = Readonly<{
  name: string;
  allowed: boolean;
  denied: boolean;
  shut: boolean;
  rule: string;
  agent: Agent;
  server: KnownServer | undefined;
}>;

function ruleOf({ name, allowed, denied, shut, rule, agent, server }: Decided): string {
  if (shut) return rule;
  if (denied) return "removed by disallowedTools";
  if (name === DELEGATION_TOOL) return delegationRule(agent, allowed);
  const lead = leadOf(name);
  if (lead !== undefined && !covers(agent.tools, name))
    return allowed ? `included with ${lead}` : `needs ${lead}, which the agent does not have`;
  if (agent.tools === undefined) return "no list of tools: everything but delegation";
  if (!allowed && server) return `not in the list of tools; add ${wholeServer(server.name)} to allow it`;
  if (!allowed) return "not in the list of tools";
  return covers(agent.tools, name)
    ? "in the list of tools"
    : "not listed, but included with a tool that is in the list";
}

/** Why an agent may start other agents, or may not. */
function delegationRule({ tools, spawns }: Agent, allowed: boolean): string {
  if (!allowed) return "no delegation tool is listed, and spawns names no agent";
  const whom = spawnsText(spawns ?? "*");
  return covers(tools, DELEGATION_TOOL)
    ? `in the list of tools; it may start ${whom}`
    : `spawns grants it; it may start ${whom}`;
}

/** How the rules in an agent's own file restrict the calls of a tool, as text. */
function boundsOf({ tools = [], disallowedTools = [], rules = [] }: Agent, name: string): string {
  const only = tools.filter((entry) => isCallOf(entry, name));
  const said = [
    ...(only.length > 0 && !tools.some((entry) => toolMatches(entry, name)) ? [`only ${only.join(", ")}`] : []),
    ...disallowedTools.filter((entry) => isCallOf(entry, name)).map((entry) => `never ${entry}`),
    ...rulesFor(rules.flat(), name).map(agentRuleText),
  ];
  return said.length === 0 ? "" : ` (${said.join("; ")})`;
}

const isCallOf = (entry: string, tool: string): boolean => entry.startsWith(`${tool}(`);

/**
 * The list that names the tool: in the agent's file, in a base agent, or in the settings. A tools list in the settings
 * replaces the other tools lists; a deny-list in the settings is added to the other deny-lists.
 */
function toolOrigin(found: FoundAgent, field: "tools" | "disallowedTools", name: string, trace: Trace): FieldOrigin {
  if (field === "tools" && found.origins[field]?.from === "settings") return trace(found, field);
  if (covers(found.read.agent[field], name)) return trace({ ...found, origins: {} }, field);
  const { base } = found;
  if (base === undefined || !covers(base.agent[field], name)) return trace(found, field);
  const { name: whose, file } = base;
  const at = toolOrigin(base, field, name, trace);
  return { from: "base", base: whose, ...(file === undefined ? {} : { file }), at };
}

const covers = (list: readonly string[] | undefined, tool: string): boolean =>
  list?.some((pattern) => toolMatches(pattern.replace(/\(.*\)$/s, ""), tool)) ?? false;

/** Tools that the agent's file, its base agent or the settings name, including those that another list removes. */
function namedIn({ agent, read, base }: FoundAgent): readonly string[] {
  const own = [...(read.agent.tools ?? []), ...(agent.tools ?? []), ...(agent.disallowedTools ?? [])];
  return base === undefined ? own : [...own, ...namedIn(base)];
}

const isOneTool = (name: string): boolean => !name.includes("*") && !name.includes("(") && !isOfServer(name);
