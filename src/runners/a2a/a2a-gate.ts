import { z } from "zod";
import type { Verdict } from "../../core/policy/verdict.ts";
import { NETWORK, REMOTE } from "../../core/rules/rule.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { defineTool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { approve, verdictOn } from "../../runtime/access/approve-call.ts";
import type { FetchRules } from "../../runtime/network/guarded-fetch-for-libraries.ts";
import { webRefusal } from "../../runtime/network/web-target.ts";
import { remoteFailure } from "./a2a-fault.ts";

const input = z.object({ url: z.string(), agent: z.string(), prompt: z.string(), signsInWith: z.string().optional() });

/**
 * The tool call by which policy and person judge that a task is sent to a remote agent: a request that can change
 * things.
 */
const sending = defineTool({
  name: REMOTE,
  description: "Sends a task to a remote agent.",
  input,
  effect: "write",
  does: "net",
  subjects: ({ url }) => [{ kind: "url", url }],
  run: () => "",
});

/**
 * Asks once for approval of every server that receives data; redirects are followed only to addresses that rules allow.
 */
export function createGate(
  assignment: Assignment,
  context: PerformContext,
  signsInWith: string | undefined,
): Required<Pick<FetchRules, "before" | "check">> {
  const agreed = new Map<string, Promise<void>>();
  const granted = new Set<string>();
  const judge = async (url: string): Promise<void> => {
    const ban = assignment.access?.policy().deny.find(({ tool, pattern }) => tool === NETWORK && pattern === undefined);
    if (ban)
      throw remoteFailure(
        "DENIED",
        `nothing is sent to ${originOf(url)}: a rule forbids the network (deny ${NETWORK})`,
        "Remove the rule to allow the request.",
      );
    const { agent, prompt } = assignment;
    const about = { url, agent: agent.name, prompt, ...defined({ signsInWith }) };
    const approved = await approve(sending, about, REMOTE, { assignment, context });
    if ("judged" in approved) return;
    const { rule, text } =
      "problem" in approved ? { rule: "the address of the agent", text: approved.problem } : approved;
    context.emit({ type: "tool.denied", call: REMOTE, tool: REMOTE, rule, text });
    throw remoteFailure("DENIED", text, `Allow the request with --allow '${REMOTE}(${originOf(url)}/*)'.`);
  };
  const verdict = (url: string): Verdict => verdictOn(sending, assignment, { subjects: [{ kind: "url", url }] });
  return {
    before: async (url) => {
      const origin = originOf(url);
      const known = agreed.get(origin);
      agreed.set(origin, known ?? judge(url));
      await agreed.get(origin);
      granted.add(origin);
      const { decision, rule } = verdict(url); // approving a server does not lift a deny rule for a part of it
      if (decision === "deny")
        throw remoteFailure("DENIED", `nothing is sent to ${url} (${rule})`, "Remove the rule to allow the request.");
    },
    check: (url) => {
      const { decision, rule } = verdict(url);
      if (decision === "allow" || (decision === "ask" && granted.has(originOf(url)))) return;
      throw webRefusal("REDIRECT", `the server redirected to ${originOf(url)}, which is not allowed here (${rule})`);
    },
  };
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);
