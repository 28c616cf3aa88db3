import { toolsNamed } from "../vocabulary/tool-names.ts";
import { parseRules, type Rule, ruleText } from "./rule.ts";

/** A rule of an agent file. It never grants a permission: `allow` only cancels earlier rules of the same list. */
export type AgentRule = Rule & Readonly<{ says: "allow" | "ask" | "deny" }>;

/** The rules of an agent file. The last matching rule wins; without a match the list has no effect. */
export type AgentRules = readonly AgentRule[];

/**
 * Reads a rule such as `ask bash(git push *)`, including rules for a tool that only the library user passed;
 * `undefined` for anything else.
 */
export function parseAgentRule(text: string): AgentRules | undefined {
  const [, says, rule = "", tool = ""] = /^\s*(allow|ask|deny)\s+(([\w.*:@/-]+)(?:\([\s\S]+\))?)\s*$/.exec(text) ?? [];
  if (rule === "") return undefined;
  const known = toolsNamed(tool).length > 0 ? [] : [tool];
  return parseRules([rule], known).map((each) => ({ ...each, says: says as AgentRule["says"] }));
}

/** An agent's rule as text, in the form in which it is written in files. */
export const agentRuleText = (rule: AgentRule): string => `${rule.says} ${ruleText(rule)}`;
