import { z } from "zod";
import { NETWORK, parseRules } from "../rules/rule.ts";
import { createPolicy, type Policy, policyModes } from "./policy.ts";

const rules = z.array(z.string().min(1));

/** What a person says about what agents may do: the same words in files, flags and the library. */
export const permissions = z.strictObject({
  mode: z.enum(policyModes).optional().describe("how much is asked"),
  allow: rules.optional().describe("calls that are not asked about, as in bash(git log *)"),
  ask: rules.optional().describe("calls that are always asked about"),
  deny: rules.optional().describe("calls that are refused"),
  sandbox: z.enum(["required", "auto", "off"]).optional().describe("whether commands have to be isolated"),
  writableRoots: rules.optional().describe("folders besides the working folder that may be written"),
  allowWeaker: z
    .boolean()
    .optional()
    .describe("another tool may do a task although it cannot keep all that the agent is bound to"),
  network: z.boolean().optional().describe("commands may use the network"),
  delegation: z
    .enum(["own", "ceiling"])
    .optional()
    .describe("which tools a helper has: its own, or no more than its parent"),
});
export type Permissions = Readonly<z.infer<typeof permissions>>;

/** Settings and what is said this time: rules add up, everything else is replaced. */
export function withPermissions(before: Permissions = {}, now: Permissions = {}): Permissions {
  const lists = (["allow", "ask", "deny", "writableRoots"] as const).flatMap((key) => {
    const both = [...new Set([...(before[key] ?? []), ...(now[key] ?? [])])];
    return both.length > 0 ? [[key, both] as const] : [];
  });
  return { ...before, ...now, ...Object.fromEntries(lists) };
}

/** The policy that these words mean; `own` are tools that only this crew has. */
export function policyOf(
  { mode = "default", allow = [], ask = [], deny = [], network = false }: Permissions,
  own: readonly string[],
): Policy {
  const rulesOf = (texts: readonly string[]): Policy["allow"] => parseRules(texts, own);
  return createPolicy(mode, {
    allow: [...rulesOf(allow), ...(network ? [{ tool: NETWORK }] : [])],
    ask: rulesOf(ask),
    deny: rulesOf(deny),
  });
}
