import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { terminalLine } from "../../core/view/words.ts";
import { homeOf } from "../../crew/outfit/setup.ts";
import { openKeptRules } from "../../runtime/access/approved-rules.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";

/** The command `subcrew permissions`. */
export const permissionsCommand: CliCommand = {
  description: "Lists the permission rules that you approved for this project or everywhere, and removes them.",
  options: [jsonOption()],
  examples: [
    ["subcrew permissions", "the rules that hold in this project"],
    ["subcrew permissions remove 2", "remove a rule by its number in the list, or by its text"],
  ],
  act: async (_, flags) => {
    const rules = await approvedRules(process.cwd());
    process.stdout.write(flags.json ? `${jsonText(rules, 2)}\n` : `${rulesText(rules)}\n`);
    return 0;
  },
  commands: {
    remove: {
      description: "Removes one approved rule; the next call that it covered needs your approval again.",
      words: "[rule...]",
      usage: "NUMBER | RULE",
      options: [],
      examples: [["subcrew permissions remove 'bash(npm test *)'", "remove a rule by its text"]],
      act: async (words) => {
        process.stdout.write(`${await removeRule(words.join(" "), process.cwd())}\n`);
        return 0;
      },
    },
  },
};

const store = () => openKeptRules(homeOf({ env: process.env }));

/** The rules that were approved for a project or everywhere. */
export const approvedRules = async (project: string): Promise<readonly string[]> => store().read(project);

/** The rules with the numbers by which they are removed. */
export function rulesText(rules: readonly string[]): string {
  return rules.length === 0
    ? "No rule was approved for this project. Answer a permission question with [p] to approve one."
    : rules.map((rule, at) => `${at + 1}  allow  ${terminalLine(rule)}`).join("\n");
}

/** Removes a rule by its number or its text; returns a message about it. */
export async function removeRule(word: string, project: string): Promise<string> {
  const rules = await approvedRules(project);
  const rule = /^\d+$/.test(word) ? rules[Number(word) - 1] : word;
  if (rule === undefined || !(await store().remove(rule, project)))
    throw new CrewError(
      "BAD_INPUT",
      `No approved rule matches "${word}".`,
      "`subcrew permissions` lists the approved rules with their numbers; in a chat, /permissions.",
    );
  return `Removed: allow ${terminalLine(rule)}`;
}
