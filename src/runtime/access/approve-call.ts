import { approvalText } from "../../core/policy/approval.ts";
import { judge, rulesAlike, wayOut } from "../../core/policy/judge.ts";
import type { CallToJudge } from "../../core/policy/judge-call.ts";
import { canGrantNetwork, createPolicy, type Policy } from "../../core/policy/policy.ts";
import type { Verdict } from "../../core/policy/verdict.ts";
import type { LocatedSubject } from "../../core/rules/call-subject.ts";
import { NETWORK, parseRules, type Rule } from "../../core/rules/rule.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { classOf } from "../../core/vocabulary/tool-class.ts";
import { isDenial, isOpenRefusal } from "../files/open-contained.ts";

/** The decision about a tool call: allowed for exactly these subjects (paths, commands, URLs), denied, or invalid. */
export type ApprovedCall =
  | Readonly<{ judged: readonly LocatedSubject[]; network?: true }>
  | Refusal
  | Readonly<{ problem: string }>;

type Asking = Readonly<{
  assignment: Assignment;
  context: PerformContext;
  /** Aborts when the call is stopped; by default the signal of the task. */
  signal?: AbortSignal;
  /** The change that the call would make now, for the question. */
  diff?(): Promise<string | undefined>;
}>;

/** A refused call: what the model reads, and what the user can do. */
type Refusal = Readonly<{
  rule: string;
  text: string;
  hint?: string;
  /** The subjects of the call, as far as they are known. */
  located?: readonly LocatedSubject[];
  /** True: the call needed an approval, and nobody could be asked. */
  unasked?: true;
}>;

/** Judges a tool call, and asks a person for approval where needed. If no person is available, the call is denied. */
export async function approve(
  tool: Tool,
  input: unknown,
  call: string,
  { assignment, context, signal = context.signal, diff }: Asking,
): Promise<ApprovedCall> {
  const { access, agent } = assignment;
  const located = await locateAll(tool, input, assignment);
  if (!Array.isArray(located)) return located;
  const runs = located.some(({ kind }) => kind === "command");
  const commands = runs ? await access?.commands?.() : undefined;
  const judged = verdictOn(tool, assignment, { subjects: located, ...(commands && { shell: commands.state }) });
  const offersNetwork =
    context.attended &&
    canGrantNetwork(access?.policy() ?? careful) &&
    located.some((each) => each.kind === "command" && commands?.lacksNetwork(each.command));
  // A command that would fail without the network is not run first: the person is asked at once.
  const verdict: Verdict =
    judged.decision === "allow" && offersNetwork
      ? {
          decision: "ask",
          rule: NETWORK,
          why: "the command needs the network, which commands do not have here",
          hint: "",
        }
      : judged;
  if (verdict.decision === "allow") return { judged: located };
  const refuse = (why = ""): Refusal => {
    const call = { tool: tool.name, does: classOf(tool), effect: tool.effect, subjects: located };
    const hint = hintFor(access?.policy() ?? careful, { ...call, ...(commands && { shell: commands.state }) }, verdict);
    return { ...refused(tool, { ...verdict, hint, why: `${verdict.why}${why}` }), located };
  };
  if (verdict.decision === "deny") return refuse();
  if (!context.attended) return { ...refuse(", and nobody is available to ask"), unasked: true };
  const question = approvalText({
    agent: agent.name,
    tool: tool.name,
    input,
    verdict,
    ...defined({ diff: await diff?.() }),
    ...(commands && { isolation: commands.isolation }),
    ...(offersNetwork && { offersNetwork }),
  });
  const answer = await context.ask(question, {
    call,
    ...(offersNetwork && { offersNetwork }),
    ...defined({ inPerson: verdict.inPerson }),
    signal,
  });
  if (answer === undefined) return { ...refuse(", and nobody answered"), unasked: true };
  if (!answer.approve) {
    const words = answer.text?.trim() ?? "";
    return {
      rule: "the person",
      located,
      text: `DENIED: ${answer.by ?? "the person"} said no${words === "" ? "" : `: ${words}`}. Do not try it in another way.`,
    };
  }
  // Without a sandbox every command needs its own approval, whatever was approved before.
  if (answer.always && (!runs || commands?.state.sandboxed || commands?.state.waived))
    await access?.agree(agreedRules(tool, located, answer.rule), answer.scope);
  return { judged: located, ...(offersNetwork && answer.network && { network: true as const }) };
}

/**
 * The rule that the person gave, or a rule for exactly this call. If the person's rule is invalid, only this call is
 * allowed.
 */
function agreedRules({ name }: Tool, located: readonly LocatedSubject[], rule: string | undefined): readonly Rule[] {
  if (rule === undefined) return rulesAlike(name, located);
  try {
    return parseRules([rule], [name]);
  } catch {
    return rulesAlike(name, located);
  }
}

const careful: Policy = createPolicy("default");

/** The verdict of the task's policy on a tool call with these subjects. */
export function verdictOn(tool: Tool, { access }: Assignment, about: Pick<CallToJudge, "subjects" | "shell">): Verdict {
  return judge(access?.policy() ?? careful, { tool: tool.name, does: classOf(tool), effect: tool.effect, ...about });
}

async function locateAll(
  tool: Tool,
  input: unknown,
  { access }: Assignment,
): Promise<LocatedSubject[] | Exclude<ApprovedCall, { judged: unknown }>> {
  const subjects = tool.subjects?.(input) ?? [];
  try {
    return await Promise.all(
      subjects.map(async (subject): Promise<LocatedSubject> => {
        if (access) return access.locate(subject);
        return subject.kind === "path" ? { kind: "path", places: [subject.path], change: subject.change } : subject;
      }),
    );
  } catch (thrown) {
    if (!isOpenRefusal(thrown)) throw thrown;
    return isDenial(thrown)
      ? { rule: thrown.code.toLowerCase(), text: `DENIED: ${thrown.message}.` }
      : { problem: `${tool.name} failed: ${thrown.message}` };
  }
}

/** What the user can do so that the call is allowed: the narrowest flags, or what the verdict says. */
function hintFor(policy: Policy, call: CallToJudge, { hint, rule }: Verdict): string {
  const flags = rule === NETWORK ? undefined : wayOut(policy, call);
  if (flags === undefined || flags === "") return hint;
  const what = call.subjects.some(({ kind }) => kind === "command") ? "command" : "call";
  const edits = judge({ ...policy, level: "acceptEdits" }, call).decision === "allow";
  return `Allow the ${what} with ${flags}${edits ? ", or accept all edits with --permission-mode acceptEdits" : ""}.`;
}

function refused({ name }: Tool, { rule, why, hint }: Verdict): Refusal {
  return { rule, text: `DENIED: ${name} was not carried out: ${why} (${rule}).`, ...(hint !== "" && { hint }) };
}
