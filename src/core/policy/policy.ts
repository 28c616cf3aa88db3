import type { PermissionMode } from "../agent/agent.ts";
import type { AgentRules } from "../rules/agent-rule.ts";
import type { Lease } from "../rules/lease.ts";
import { NAMESPACES, NETWORK, type Rule, ruleText } from "../rules/rule.ts";
import { defined } from "../text/defined.ts";
import { toolMatches } from "../vocabulary/tool-names.ts";
import type { HomeAnchor } from "./protected-paths.ts";

/** How much is asked, as a person says it. */
export const policyModes = ["plan", "default", "acceptEdits", "dontAsk", "bypass"] as const;
export type PolicyMode = (typeof policyModes)[number];

/** From looking only to never asking; each step allows what the one before it allows. */
const levels = ["plan", "default", "acceptEdits", "bypass"] as const;
export type PolicyLevel = (typeof levels)[number];

/** What the calls of a task are judged by: data that goes wherever the task goes. */
export type Policy = Readonly<{
  level: PolicyLevel;
  /** False: what would be asked is refused. */
  asks: boolean;
  allow: readonly Rule[];
  ask: readonly Rule[];
  deny: readonly Rule[];
  /** What the files of agents say: each list is heard, and none can allow what the rest of the policy does not. */
  bounds: readonly AgentBound[];
  /** The files that the task, and those above it, said they write: each of these has to cover what is changed. */
  leases?: readonly Lease[];
  /** Where home folders lie, seen from the workspace: more is protected in them. */
  homes?: readonly HomeAnchor[];
}>;

/** The rules of one agent's file, and the key they stand under. */
export type AgentBound = Readonly<{ of: string; key: "tools" | "rules"; rules: AgentRules }>;

/** The words that people and agent files use, as steps of the ladder. */
const modes: Readonly<Record<PolicyMode | PermissionMode, Pick<Policy, "level" | "asks">>> = {
  plan: { level: "plan", asks: true },
  default: { level: "default", asks: true },
  acceptEdits: { level: "acceptEdits", asks: true },
  auto: { level: "acceptEdits", asks: true },
  dontAsk: { level: "default", asks: false },
  bypass: { level: "bypass", asks: true },
};

/** A policy in which a person said these things. */
export function createPolicy(mode: PolicyMode, rules: Partial<Pick<Policy, "allow" | "ask" | "deny">> = {}): Policy {
  return { ...modes[mode], allow: [], ask: [], deny: [], bounds: [], ...rules };
}

/** The policy of an agent: what holds around it, and what its file takes away. Nothing in a file adds to it. */
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

/** The same for a task that said which files it writes. */
export function withLease(policy: Policy, lease: Lease | undefined): Policy {
  return lease ? { ...policy, leases: [...(policy.leases ?? []), lease] } : policy;
}

/** The policy of the agents that an agent starts: what its file denies it is denied to them. */
export function withDenied(policy: Policy, disallowedTools: readonly string[] = []): Policy {
  const plain = disallowedTools.filter((tool) => !tool.includes("(")).map((tool) => ({ tool }));
  return plain.length === 0 ? policy : { ...policy, deny: [...policy.deny, ...plain] };
}

/** A policy that allows no more than another one did: what both allow, and what either of them asks or forbids. */
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
    ...defined({ leases: policy.leases, homes: policy.homes }),
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

/** Of these tools, the calls that one of the rules fits. */
function nothingBut(rules: readonly Rule[]): AgentRules {
  const tools = [...new Set(rules.map(({ tool }) => tool))];
  return [
    ...tools.map((tool) => ({ tool, says: "deny" as const })),
    ...rules.map((rule) => ({ ...rule, says: "allow" as const })),
  ];
}

/** The entries of a tool list that speak about arguments. */
function patternsIn(written: readonly string[] = []): Rule[] {
  return written.flatMap((entry) => {
    const [, tool, pattern] = /^([^()]+)\(([\s\S]+)\)$/.exec(entry) ?? [];
    return tool === undefined ? [] : [{ tool, ...(pattern !== undefined && pattern !== "*" && { pattern }) }];
  });
}

/** True when commands in the sandbox may use the network: only when a rule says so. */
export function mayUseNetwork({ allow, deny, level }: Policy): boolean {
  const named = ({ tool }: Rule): boolean => tool === NETWORK;
  return level !== "plan" && allow.some(named) && !deny.some(named);
}

/** True when commands in the sandbox may make user namespaces of their own: only when a rule says so. */
export function mayUseNamespaces({ allow, deny }: Policy): boolean {
  const named = ({ tool }: Rule): boolean => tool === NAMESPACES;
  return allow.some(named) && !deny.some(named);
}

/** The rules that speak about a tool. */
export function rulesFor<R extends Rule>(rules: readonly R[], tool: string): R[] {
  return rules.filter((rule) => toolMatches(rule.tool, tool));
}
