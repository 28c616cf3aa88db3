import { permit } from "../../core/policy/permit.ts";
import { exactRule } from "../../core/rules/rule.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import { cutTail } from "../../core/text/cut.ts";
import { classOf } from "../../core/vocabulary/tool-class.ts";
import { approve } from "../access/approve-call.ts";

const TIME_LIMIT_MS = 60_000;
const MOST = { bytes: 4_000, lines: 80 };

/**
 * The report of the project's checker after a tool has changed files, appended to the tool result; empty when there is
 * no report. The command comes from the user's settings, so it needs no approval; rules that deny such a command, and a
 * missing sandbox, still apply.
 */
export async function diagnosticsAfter(
  changed: Tool,
  call: string,
  { assignment, context, signal }: { assignment: Assignment; context: PerformContext; signal: AbortSignal },
): Promise<string> {
  const { access, diagnostics, rights, tools } = assignment;
  const bash = tools.get("bash");
  if (!diagnostics || classOf(changed) !== "write" || !bash || !permit(rights, bash.name).allowed) return "";
  const { command, timeoutMs = TIME_LIMIT_MS } = diagnostics;
  const commands = await access?.commands?.();
  if (!access || !commands) return "";
  await access.agree([exactRule(bash.name, command)]);
  const approved = await approve(bash, { command }, call, { assignment, context, signal });
  const title = `Diagnostics of \`${command}\``;
  if (!("judged" in approved)) return `\n\n${title}: not run. ${"text" in approved ? approved.text : approved.problem}`;
  const { ended, code, text } = await commands.run(command, { timeoutMs, signal, report: () => {} });
  const said = cutTail(text.trim(), MOST).text;
  if (ended === "exited" && code === 0) return `\n\n${title}: no problems.`;
  const how = ended === "exited" ? `exit code ${code}` : ended;
  return `\n\n${title} (${how}):\n${said === "" ? "(no output)" : said}`;
}
