import type { AgentRule, AgentRules } from "../../core/rules/agent-rule.ts";
import { isRecord } from "../../core/text/json.ts";
import {
  ALL_TOOLS,
  READ_ONLY_TOOLS,
  type ToolGroups,
  toolMatches,
  toolsNamed,
} from "../../core/vocabulary/tool-names.ts";
import { narrowBy } from "../fields/agent-rules.ts";
import type { Draft } from "../fields/draft.ts";
import { listOf } from "../fields/lists.ts";
import type { Data } from "../yaml/frontmatter.ts";
import { asData } from "../yaml/json.ts";

/**
 * Applies Kiro's permissions as restrictions. In Kiro, tools in `allowedTools` run without a question, and
 * `toolsSettings` lists paths and commands that run without a question or never. In subcrew, a call that neither key
 * lists needs approval, and a call that they deny is denied. Neither key allows anything.
 */
export function narrowLikeKiro(draft: Draft, data: Data, groups: ToolGroups): void {
  const settings = asData(data["toolsSettings"]) ?? {};
  const unasked = listOf(data["allowedTools"])?.flatMap((name) => toolsNamed(name, groups));
  const rules = [
    ...(unasked === undefined ? [] : askedOf(draft, unasked)),
    ...Object.entries(settings).flatMap(([name, said]) =>
      toolsNamed(name, groups).flatMap((tool) => (isRecord(said) ? limitsOf(tool, said, unasked ?? []) : [])),
    ),
  ];
  narrowBy(draft, rules, unasked === undefined ? "toolsSettings" : "allowedTools");
}

/**
 * The rules for an agent of Kiro: a call needs approval if its tool changes something and Kiro, too, would ask before
 * running it.
 */
function askedOf({ agent: { tools } }: Draft, unasked: readonly string[]): AgentRules {
  const isFree = (tool: string): boolean =>
    READ_ONLY_TOOLS.includes(tool) || unasked.some((name) => toolMatches(name, tool));
  if (tools !== undefined && !tools.includes(ALL_TOOLS))
    return tools.filter((tool) => !isFree(tool)).map((tool) => ({ tool, says: "ask" }));
  if (unasked.includes(ALL_TOOLS)) return [];
  const free = [...new Set([...READ_ONLY_TOOLS, ...unasked])];
  return [{ tool: ALL_TOOLS, says: "ask" }, ...free.map((tool) => ({ tool, says: "allow" as const }))];
}

function limitsOf(tool: string, said: Data, unasked: readonly string[]): AgentRules {
  const [allowed, denied] = (["allowed", "denied"] as const).map((kind) => [
    ...(listOf(said[`${kind}Paths`]) ?? []),
    ...(listOf(said[`${kind}Commands`]) ?? []).flatMap((regex) => commandOf(regex, kind) ?? []),
  ]) as [string[], string[]];
  const rest: AgentRule["says"] = said["denyByDefault"] === true ? "deny" : "ask";
  const limited = rest === "deny" || (!unasked.includes(tool) && allowed.length > 0);
  return [
    ...(limited
      ? [{ tool, says: rest }, ...allowed.map((pattern) => ({ tool, pattern, says: "allow" as const }))]
      : []),
    ...denied.map((pattern) => ({ tool, ...(pattern !== "*" && { pattern }), says: "deny" as const })),
  ];
}

/**
 * Converts the regular expression of a command to a pattern with `*`. An expression that allows is dropped if it cannot
 * be converted; an expression that denies then covers every command that begins with its literal prefix.
 */
function commandOf(regex: string, kind: "allowed" | "denied"): string | undefined {
  const plain = regex
    .replace(/^\^|\$$/g, "")
    .replaceAll(".*", "*")
    .replace(/(?<=\w)\*$/, " *");
  const literal = /^[\w\s*./:@=,'"-]*/.exec(plain)?.[0] ?? "";
  if (literal === plain) return plain.trim();
  if (kind === "allowed") return undefined;
  const words = literal.split(/\s+/).slice(0, -1).filter(Boolean);
  return [...words, "*"].join(" ");
}
