import { narrowest } from "../vocabulary/limits.ts";
import { ALL_TOOLS } from "../vocabulary/tool-names.ts";
import type { Agent } from "./agent.ts";

/** The fields that an agent inherits from the agent it extends. The prompt is not inherited. */
export type Inherited = Pick<
  Agent,
  "tools" | "delegation" | "disallowedTools" | "rules" | "model" | "thinking" | "limits" | "permission" | "sandbox"
>;

export const INHERITED_FIELDS = [
  "tools",
  "disallowedTools",
  "rules",
  "model",
  "thinking",
  "limits",
  "permission",
  "sandbox",
] as const;

/**
 * How an agent (the child) extends another agent (the base). Tools are the union of both. A base with every tool does
 * not widen a child that lists its tools, and a child with an empty list keeps the empty list. Model and thinking come
 * from the child, or else from the base. Restrictions of the base apply to the child.
 */
export function inherit<A extends Inherited>(child: A, base: Inherited): A {
  const inherited: { -readonly [K in keyof Inherited]: Inherited[K] } = {};
  const tools = unionOfTools(child.tools, base.tools);
  if (tools !== undefined) inherited.tools = tools;
  if (base.disallowedTools !== undefined)
    inherited.disallowedTools = [...new Set([...base.disallowedTools, ...(child.disallowedTools ?? [])])];
  if (base.rules !== undefined) inherited.rules = [...base.rules, ...(child.rules ?? [])];
  const spelled = child.delegation ?? base.delegation;
  if (spelled !== undefined) inherited.delegation = spelled;
  const model = child.model ?? base.model;
  if (model !== undefined) inherited.model = model;
  const thinking = child.thinking ?? base.thinking;
  if (thinking !== undefined) inherited.thinking = thinking;
  const limits = narrowest(child.limits, base.limits);
  if (limits !== undefined) inherited.limits = limits;
  const permission = child.permission ?? base.permission;
  if (permission !== undefined) inherited.permission = permission;
  const sandbox = child.sandbox ?? base.sandbox;
  if (sandbox !== undefined) inherited.sandbox = sandbox;
  return { ...child, ...inherited };
}

/** The tool names of the base and of the child, each once; the base's names come first. */
export function unionOfTools(
  child: readonly string[] | undefined,
  base: readonly string[] | undefined,
): readonly string[] | undefined {
  if (base === undefined || child?.length === 0) return child;
  if (child === undefined) return base;
  if (base.includes(ALL_TOOLS)) return child;
  return [...new Set([...base, ...child])];
}

/** A definition that other agents may extend; a list of definitions is in order of precedence. */
export type InheritingAgent = Readonly<{
  name: string;
  extends?: string;
  /**
   * How far the source of the definition is trusted. An agent can only extend a definition of the same or a higher
   * rank.
   */
  rank: number;
}>;

export type Lineage<H> =
  | { readonly base: H }
  | { readonly fault: "unknown-base" | "inheritance-cycle"; readonly message: string };

/**
 * The base of each definition that extends another definition. A definition that extends its own name extends the next
 * weaker definition of that name. Without a weaker definition it extends itself, which is a cycle. A missing base is an
 * error of the definition, and of all definitions that extend it.
 */
export function lineages<H extends InheritingAgent>(definitions: readonly H[]): Map<H, Lineage<H>> {
  const found = new Map<H, Lineage<H>>();
  if (!definitions.some((heir) => heir.extends !== undefined)) return found;
  const byName = new Map<string, H[]>();
  for (const heir of definitions) {
    const before = byName.get(heir.name);
    if (before === undefined) byName.set(heir.name, [heir]);
    else before.push(heir);
  }
  const resolve = (heir: H, path: readonly H[]): Lineage<H> | undefined => {
    if (heir.extends === undefined) return undefined;
    const known = found.get(heir);
    if (known !== undefined) return known;
    const candidates = (byName.get(heir.extends) ?? []).filter(({ rank }) => rank >= heir.rank);
    const isOwn = heir.extends === heir.name;
    const base = isOwn ? (candidates[candidates.indexOf(heir) + 1] ?? heir) : candidates[0];
    const chain = [...path, heir];
    let result: Lineage<H>;
    if (base === undefined) {
      result = { fault: "unknown-base", message: `Base agent "${heir.extends}" not found` };
    } else if (chain.includes(base)) {
      const names = [...chain.slice(chain.indexOf(base)), base].map(({ name }) => name);
      result = { fault: "inheritance-cycle", message: `Circular inheritance detected: ${names.join(" -> ")}` };
    } else {
      const above = resolve(base, chain);
      result = above !== undefined && "fault" in above ? above : { base };
    }
    found.set(heir, result);
    return result;
  };
  for (const heir of definitions) resolve(heir, []);
  return found;
}
