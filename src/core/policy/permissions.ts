import { z } from "zod";
import { NETWORK, parseRules } from "../rules/rule.ts";
import { createPolicy, type Policy, policyModes } from "./policy.ts";

const rules = z.array(z.string().min(1));

/** The permission settings: the same keys in files, flags and the library. */
export const permissions = z.strictObject({
  mode: z.enum(policyModes).optional().describe("permission mode: how often the user is asked"),
  allow: rules.optional().describe("calls allowed without asking, e.g. bash(git log *)"),
  ask: rules.optional().describe("calls that always need approval"),
  deny: rules.optional().describe("calls that are refused"),
  sandbox: z.enum(["required", "auto", "off"]).optional().describe("whether commands must run in a sandbox"),
  writableRoots: rules.optional().describe("folders besides the working folder that agents may write to"),
  allowWeaker: z
    .boolean()
    .optional()
    .describe(
      "run a task in another agent program even if that program cannot enforce all of the agent's restrictions",
    ),
  network: z.boolean().optional().describe("commands may use the network"),
  delegation: z
    .enum(["own", "ceiling"])
    .optional()
    .describe("tools of an agent that another one starts: its own, or at most those of its parent"),
});
export type Permissions = Readonly<z.infer<typeof permissions>>;

/** Combines permission settings with the settings of a single run: rules are merged, everything else is replaced. */
export function withPermissions(before: Permissions = {}, now: Permissions = {}): Permissions {
  const lists = (["allow", "ask", "deny", "writableRoots"] as const).flatMap((key) => {
    const both = [...new Set([...(before[key] ?? []), ...(now[key] ?? [])])];
    return both.length > 0 ? [[key, both] as const] : [];
  });
  return { ...before, ...now, ...Object.fromEntries(lists) };
}

/** The policy for these settings; `own` are the names of tools that the library user passed. */
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
