import type { AnyInput } from "../../core/plan/input.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { planMermaid, planTree } from "../../core/view/plan-tree.ts";
import { compile } from "../../modes/compile.ts";
import type { Flags } from "../base/flags.ts";
import { stdoutLook } from "../base/terminal.ts";

/**
 * Prints the plan of an input on stdout, as a tree on a terminal and otherwise as JSON. Warnings of the compiler go
 * to stderr.
 */
export function printPlan(input: AnyInput, flags: Flags): Promise<number> {
  const look = stdoutLook(flags);
  const plan = compile(input, { strict: flags.strict ?? false });
  for (const note of flags.quiet ? [] : (plan.notes ?? []))
    process.stderr.write(`${look.colors.yellow("warn")}    ${sanitize(note)}\n`);
  if (flags.mermaid) process.stdout.write(planMermaid(plan));
  else if (process.stdout.isTTY && !flags.json)
    process.stdout.write(
      planTree(plan, { columns: process.stdout.columns || 80, unicode: look.signs.more === "\u2026" }),
    );
  else process.stdout.write(`${jsonText(plan, 2)}\n`);
  return Promise.resolve(0);
}
