import type { Plan } from "../../core/plan/plan.ts";
import { lookAlikesIn } from "../../core/text/name-characters.ts";
import type { Discovery } from "./discover.ts";
import { findAgent } from "./find.ts";

/**
 * Notes about agents of a plan whose definition in the project replaces a definition of the user or a bundled
 * definition, and about those whose names look like the name of another agent.
 */
export function shadowNotes(
  { nodes }: Plan,
  { shadowed, untrusted, agents, unlisted }: Pick<Discovery, "shadowed" | "untrusted" | "agents" | "unlisted">,
): string[] {
  const used = new Set(Object.values(nodes).flatMap((node) => (node.kind === "task" ? [node.task.agent ?? ""] : [])));
  const notes = new Map<string, string>();
  for (const { found, by } of shadowed) {
    const [theirs, ours] = [by.agent.source, found.agent.source];
    if (!used.has(by.name) || theirs?.kind !== "project" || ours?.kind === "project" || notes.has(by.name)) continue;
    const whose = ours?.kind === "bundled" ? "the bundled agent" : `the agent of ${found.file ?? "the user"}`;
    notes.set(
      by.name,
      `The agent "${by.name}" of this project (${by.file ?? "its files"}) is used instead of ${whose}.`,
    );
  }
  for (const { name, file = "its files", distrust = "project" } of untrusted) {
    const instead =
      used.has(name) && !notes.has(name) ? findAgent({ agents, shadowed: [], unlisted }, name) : undefined;
    if (!instead) continue;
    const whose =
      instead.agent.source?.kind === "bundled" ? "the bundled agent" : `the agent of ${instead.file ?? "the user"}`;
    const why = distrust === "changed" ? "changed since you trusted it" : "is not trusted";
    notes.set(
      name,
      `The agent "${name}" of this project (${file}) ${why}, so ${whose} is used. Review it with \`subcrew trust\`.`,
    );
  }
  const likes = lookAlikesIn(new Set([...agents, ...unlisted].map(({ name }) => name)));
  for (const name of used) {
    const like = likes.get(name);
    if (like !== undefined) notes.set(name, `The agent "${name}" is not "${like}", although its name looks the same.`);
  }
  return [...notes.values()];
}

/** Adds notes for the user to a plan. */
export function withNotes(plan: Plan, notes: readonly string[]): Plan {
  return notes.length === 0 ? plan : { ...plan, notes: [...new Set([...(plan.notes ?? []), ...notes])] };
}
