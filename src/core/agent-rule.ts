import { parseRules, type Rule, ruleText } from "./rule.ts";

/** What a file says about calls of a tool. None of it adds a right: `allow` only lifts what stands before it in the list. */
export type AgentRule = Rule & Readonly<{ then: "allow" | "ask" | "deny" }>;

/** The last rule that fits a call counts; where none does, the list says nothing. */
export type AgentRules = readonly AgentRule[];

/** Reads `ask bash(git push *)`; `undefined` for anything else. */
export function parseAgentRule(text: string): AgentRules | undefined {
  const [, then, rule] = /^\s*(allow|ask|deny)\s+(\S[\s\S]*)$/.exec(text) ?? [];
  if (rule === undefined) return undefined;
  try {
    return parseRules([rule]).map((each) => ({ ...each, then: then as AgentRule["then"] }));
  } catch {
    return undefined; // it names no tool, which the caller reports with the place
  }
}

/** A rule as it is written. */
export const agentRuleText = (rule: AgentRule): string => `${rule.then} ${ruleText(rule)}`;
