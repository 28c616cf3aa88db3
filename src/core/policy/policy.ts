import type { PermissionMode } from "../agent/agent.ts";
import type { AgentRules } from "../rules/agent-rule.ts";
import type { Lease } from "../rules/lease.ts";
import { NAMESPACES, NETWORK, type Rule, ruleText } from "../rules/rule.ts";
import { defined } from "../text/defined.ts";
import { toolMatches } from "../vocabulary/tool-names.ts";
import type { LocalPlaces } from "./protected-paths.ts";

/** The permission modes, as users write them. */
export const policyModes = ["plan", "default", "acceptEdits", "dontAsk", "bypass"] as const;
export type PolicyMode = (typeof policyModes)[number];

/** Permission levels, from read-only to never asking; each level allows everything that the level before it allows. */
const levels = ["plan", "default", "acceptEdits", "bypass"] as const;
export type PolicyLevel = (typeof levels)[number];

/**
 * The policy that judges the tool calls of a task. It is plain data that is sent to the process that executes the task.
 */
export type Policy = Readonly<{
  level: PolicyLevel;
  /** False: no person is asked, and a tool call that needs approval is denied. */
  asks: boolean;
  allow: readonly Rule[];
  ask: readonly Rule[];
  deny: readonly Rule[];
  /** Rules of agent files: each list applies, and no list can allow what the rest of the policy forbids. */
  bounds: readonly AgentBound[];
  /**
   * The files that the task and its parents declared to write (their leases): a changed file must be in each of them.
   */
  leases?: readonly Lease[];
}> &
  LocalPlaces;

/** The rules in the file of the agent named `of`, and the key of that file under which they are written. */
export type AgentBound = Readonly<{ of: string; key: "tools" | "rules"; rules: AgentRules }>;

/** Mode names of users and agent files, mapped to levels. */
const modes: Readonly<Record<PolicyMode | PermissionMode, Pick<Policy, "level" | "asks">>> = {
  plan: { level: "plan", asks: true },
  default: { level: "default", asks: true },
  acceptEdits: { level: "acceptEdits", asks: true },
  auto: { level: "acceptEdits", asks: true },
  dontAsk: { level: "default", asks: false },
  bypass: { level: "bypass", asks: true },
};

/** Creates a policy from these settings. */
export function createPolicy(mode: PolicyMode, rules: Partial<Pick<Policy, "allow" | "ask" | "deny">> = {}): Policy {
  return { ...modes[mode], allow: [], ask: [], deny: [], bounds: [], ...rules };
}

/** The policy of an agent: the policy of its caller, narrowed by the agent's file. The file never widens the policy. */
export function narrow(around: Policy, agent: Narrowing): Policy {
  const { name, permission, tools, disallowedTools, rules = [], sandbox } = agent;
  const policy = sandbox === "read-only" ? withLease(around, { of: name, globs: [] }) : around;
  const own = permission === undefined ? policy : modes[permission];
  const listed = patternsIn(tools).filter(({ tool }) => !tools?.some((each) => toolMatches(each, tool)));
  return {
    ...policy,
    level: levels[Math.min(levels.indexOf(policy.level), levels.indexOf(own.level))]!,
    asks: policy.asks && own.asks,
    deny: [...policy.deny, ...patternsIn(disallowedTools), ...(sandbox === "read-only" ? [{ tool: NETWORK }] : [])],
    bounds: [
      ...policy.bounds,
      ...(listed.length === 0 ? [] : [{ of: name, key: "tools" as const, rules: nothingBut(listed) }]),
      ...rules.map((list) => ({ of: name, key: "rules" as const, rules: list })),
    ],
  };
}

/** The policy narrowed by a task's lease (the files that the task declared to write). */
export function withLease(policy: Policy, lease: Lease | undefined): Policy {
  return lease ? { ...policy, leases: [...(policy.leases ?? []), lease] } : policy;
}

/** The policy of the agents that an agent starts: what the agent's file denies is denied to them, too. */
export function withDenied(policy: Policy, disallowedTools: readonly string[] = []): Policy {
  const plain = disallowedTools.filter((tool) => !tool.includes("(")).map((tool) => ({ tool }));
  return plain.length === 0 ? policy : { ...policy, deny: [...policy.deny, ...plain] };
}

/** The intersection of two policies: allows what both allow, and asks or denies where either policy does. */
export function intersect(policy: Policy, before: Policy): Policy {
  const had = new Set(before.allow.map(ruleText));
  const joined = (ours: readonly Rule[], theirs: readonly Rule[]): Rule[] => {
    const known = new Set(ours.map(ruleText));
    return [...ours, ...theirs.filter((rule) => !known.has(ruleText(rule)))];
  };
  return {
    level: levels[Math.min(levels.indexOf(policy.level), levels.indexOf(before.level))]!,
    asks: policy.asks && before.asks,
    allow: policy.allow.filter((rule) => had.has(ruleText(rule))),
    ask: joined(policy.ask, before.ask),
    deny: joined(policy.deny, before.deny),
    bounds: [...policy.bounds, ...before.bounds],
    ...defined({ leases: policy.leases, homes: policy.homes, configured: policy.configured }),
  };
}

type Narrowing = Readonly<{
  name: string;
  permission?: PermissionMode;
  tools?: readonly string[];
  disallowedTools?: readonly string[];
  rules?: readonly AgentRules[];
  sandbox?: "read-only";
}>;

/** Rules that limit the tools they name to the calls that match one of them. */
function nothingBut(rules: readonly Rule[]): AgentRules {
  const tools = [...new Set(rules.map(({ tool }) => tool))];
  return [
    ...tools.map((tool) => ({ tool, says: "deny" as const })),
    ...rules.map((rule) => ({ ...rule, says: "allow" as const })),
  ];
}

/** The entries of a tool list that have argument patterns, such as `bash(git log *)`. */
function patternsIn(written: readonly string[] = []): Rule[] {
  return written.flatMap((entry) => {
    const [, tool, pattern] = /^([^()]+)\(([\s\S]+)\)$/.exec(entry) ?? [];
    return tool === undefined ? [] : [{ tool, ...(pattern !== undefined && pattern !== "*" && { pattern }) }];
  });
}

/** True when commands in the sandbox may use the network. Only a rule can allow this. */
export function mayUseNetwork({ allow, deny, level }: Policy): boolean {
  const named = ({ tool }: Rule): boolean => tool === NETWORK;
  return level !== "plan" && allow.some(named) && !deny.some(named);
}

/** True when a person may grant a command network access, because no rule and no mode forbids it. */
export function canGrantNetwork({ deny, level, asks }: Policy): boolean {
  return asks && level !== "plan" && !deny.some(({ tool }) => tool === NETWORK);
}

/** True when commands in the sandbox may make user namespaces of their own. Only a rule can allow this. */
export function mayUseNamespaces({ allow, deny }: Policy): boolean {
  const named = ({ tool }: Rule): boolean => tool === NAMESPACES;
  return allow.some(named) && !deny.some(named);
}

/** The rules that apply to a tool. */
export function rulesFor<R extends Rule>(rules: readonly R[], tool: string): R[] {
  return rules.filter((rule) => toolMatches(rule.tool, tool));
}
