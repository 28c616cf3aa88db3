import type { LocatedSubject } from "../rules/call-subject.ts";
import { exactRule, type Rule } from "../rules/rule.ts";
import { type CallToJudge, judgeCall } from "./judge-call.ts";
import { judgeCommand } from "./judge-command.ts";
import type { Policy } from "./policy.ts";
import { strictest, type Verdict } from "./verdict.ts";

/**
 * Judges a tool call: deny rules take precedence over ask rules, ask rules over allow rules, and without a matching
 * rule the permission mode decides. Where no person can be asked, a call that needs approval is denied.
 */
export function judge(policy: Policy, ask: CallToJudge): Verdict {
  const commands = ask.subjects.flatMap((subject) =>
    subject.kind === "command" ? [judgeCommand(policy, ask, subject.command)] : [],
  );
  const others = ask.subjects.filter(({ kind }) => kind !== "command");
  const rest = commands.length === 0 || others.length > 0 ? [judgeCall(policy, { ...ask, subjects: others })] : [];
  const [first, ...more] = [...commands, ...rest];
  const verdict = strictest(first!, ...more);
  return verdict.decision === "ask" && !policy.asks
    ? { ...verdict, decision: "deny", why: `${verdict.why}, and this permission mode does not ask the user` }
    : verdict;
}

/** The rules that allow exactly this call, added when a person answers "always". */
export function rulesAlike(tool: string, subjects: readonly LocatedSubject[]): Rule[] {
  if (subjects.length === 0) return [{ tool }];
  return subjects.flatMap((subject): Rule[] => {
    switch (subject.kind) {
      case "path":
        return [exactRule(tool, subject.places.at(-1) ?? "")];
      case "command":
        return [exactRule(tool, subject.command)];
      case "url":
        return [exactRule(tool, subject.url)];
      case "name":
        return [exactRule(tool, subject.name)];
    }
  });
}
