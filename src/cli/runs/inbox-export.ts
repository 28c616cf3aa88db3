import { ruleText } from "../../core/rules/rule.ts";
import { decisionsIn } from "../../core/run/past-decisions.ts";
import { parseArguments } from "../../core/task/parse-arguments.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { canonicalName } from "../../core/vocabulary/tool-names.ts";
import { builtinTools } from "../../tools/table.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";

/** Prints the decisions of the given runs, or of all runs, as the `permissions` of a configuration file. */
export async function exportDecisions(words: readonly string[], flags: Flags): Promise<number> {
  const crew = await crewFor({});
  const ids = words.length === 0 ? await crew.runs() : await Promise.all(words.map((word) => crew.findRun(word)));
  const tools = builtinTools();
  const journals = await Promise.all(
    ids.map(async (id) => (await crew.kept.records(id).catch(() => ({ events: [] }))).events),
  );
  const decisions = journals.flatMap((events) =>
    decisionsIn(events, (name, input) => {
      const tool = tools.get(canonicalName(name) ?? name);
      const parsed = tool && parseArguments(tool, input);
      return parsed && "value" in parsed ? tool.subjects?.(parsed.value) : undefined;
    }),
  );
  const rules = (approve: boolean): string[] =>
    [
      ...new Set(decisions.filter((one) => one.approve === approve).flatMap((one) => one.rules.map(ruleText))),
    ].toSorted();
  const permissions = { allow: rules(true), deny: rules(false) };
  if (flags.json) process.stdout.write(`${jsonText({ permissions, decisions }, 2)}\n`);
  else process.stdout.write(`permissions:\n${listed("allow", permissions.allow)}${listed("deny", permissions.deny)}`);
  return 0;
}

/** Formats a list in YAML; JSON strings are valid YAML strings. */
function listed(name: string, rules: readonly string[]): string {
  return rules.length === 0
    ? `  ${name}: []\n`
    : `  ${name}:\n${rules.map((rule) => `    - ${jsonText(rule)}\n`).join("")}`;
}
