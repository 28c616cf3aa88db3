import { scalarText } from "../../core/text/json.ts";
import { type AgentRules, parseAgentRule } from "../../core/rules/agent-rule.ts";
import { isKnownTool } from "../../core/vocabulary/tool-names.ts";
import { addProblem, type Draft, type KeyReader } from "./draft.ts";
import { unknownTool } from "./unknown-tool.ts";

/**
 * Reads rules such as `[ask bash(git push *), deny write_file(docs/**)]`, or several such lists, each of which
 * restricts on its own.
 */
export const rules: KeyReader = (draft, value, key) => {
  const lists = Array.isArray(value) && value.length > 0 && value.every(Array.isArray) ? value : [value];
  for (const list of lists) narrowBy(draft, readList(draft, list, key), key);
};

/** Adds permission rules about tool calls to the agent. */
export function narrowBy(draft: Draft, list: AgentRules, key: string): void {
  if (list.length === 0) return;
  draft.agent.rules = [...(draft.agent.rules ?? []), list];
  draft.from["rules"] ??= key;
}

/** A rule that asks before every call; used for a restriction that cannot be understood. */
export const ASK_ALL: AgentRules = [{ tool: "*", says: "ask" }];

function readList(draft: Draft, list: unknown, key: string): AgentRules {
  const texts: readonly unknown[] = Array.isArray(list) ? list : [list];
  return texts.flatMap((text) => {
    const read = typeof text === "string" ? parseAgentRule(text) : undefined;
    if (read === undefined) {
      const message = `"${scalarText(text)}" of "${key}" is not a valid rule; every call needs approval instead.`;
      addProblem(draft, "bad-value", message, { field: key, hint: 'A rule looks like "ask bash(git push *)".' });
    }
    for (const { tool } of read ?? []) if (!isKnownTool(tool)) unknownTool(draft, tool, key);
    return read ?? ASK_ALL;
  });
}
