import type { AnyInput } from "../../core/plan/input.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { compile } from "../../modes/compile.ts";
import type { Flags } from "../base/flags.ts";
import { terminal } from "../base/terminal.ts";

/** Prints the plan of an input on stdout, and what its compiler wants said on stderr. */
export function printPlan(input: AnyInput, flags: Flags): Promise<number> {
  const { look } = terminal(flags);
  const plan = compile(input, { strict: flags.strict ?? false });
  for (const note of flags.quiet ? [] : (plan.notes ?? []))
    process.stderr.write(`${look.colors.yellow("warn")}    ${sanitize(note)}\n`);
  process.stdout.write(`${jsonText(plan, 2)}\n`);
  return Promise.resolve(0);
}
