import type { LocatedSubject } from "../rules/call-subject.ts";
import { exactRule, parseRules, type Rule, ruleText } from "../rules/rule.ts";
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

/**
 * The flags that would have allowed a refused call, the narrowest that do; `undefined` when no rule can allow it. Each
 * flag is tried before it is named.
 */
export function wayOut(policy: Policy, call: CallToJudge): string | undefined {
  const waives = judge(policy, call).rule === "sandbox" && call.shell !== undefined;
  const asked: CallToJudge = waives ? { ...call, shell: { ...call.shell, waived: true } } : call;
  const verdictWith = (rules: readonly Rule[]): Verdict =>
    judge({ ...policy, allow: [...policy.allow, ...rules] }, asked);
  const exact = rulesAlike(call.tool, call.subjects);
  const rules = spelledRules(call.tool, verdictWith) ?? (verdictWith(exact).decision === "allow" ? exact : undefined);
  if (rules === undefined) return undefined;
  const flags = [...new Set(rules.map(ruleText))].map((text) => `--allow '${text.replaceAll("'", `'\\''`)}'`);
  const named = [...(waives ? ["--sandbox off"] : []), ...flags].join(" ");
  return /\n/.test(named) || named.length > MAX_FLAGS ? undefined : named;
}

/** The rules that the verdicts suggest one after the other until the call is allowed; `undefined`: they do not get there. */
function spelledRules(tool: string, verdictWith: (rules: readonly Rule[]) => Verdict): readonly Rule[] | undefined {
  let rules: readonly Rule[] = [];
  for (let steps = 0; steps <= MAX_STEPS; steps++) {
    const { decision, allow } = verdictWith(rules);
    if (decision === "allow") return rules;
    if (allow === undefined) return undefined;
    rules = [...rules, ...parseRules([allow], [tool])];
  }
  return undefined;
}

/** More rules than these nobody writes for one call. */
const MAX_STEPS = 10;
/** The length of flags that a person can still copy from one line. */
const MAX_FLAGS = 400;

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
