import type { Agent } from "../agent/agent.ts";
import type { Skill } from "../agent/skill.ts";
import type { Plan } from "./plan.ts";

/** True for an agent whose prompt includes the text of skills. */
export const usesSkills = ({ skills }: Pick<Agent, "skills">): boolean => (skills?.length ?? 0) > 0;

/** Adds the text of the agent's skills to its prompt; missing skills are left out. */
export function withSkills<A extends Agent>(agent: A, skills: readonly Skill[]): A {
  const texts = (agent.skills ?? []).flatMap((name) => {
    const skill = skills.find((one) => one.name === name);
    return skill === undefined ? [] : [`## Skill: ${skill.name}\n\n${skill.instructions}`];
  });
  return texts.length === 0 ? agent : { ...agent, instructions: [agent.instructions, ...texts].join("\n\n") };
}

type Agents = Readonly<{ find(name: string): Agent | undefined }>;

/** Warnings about skills that agents of a plan name and that do not exist. */
export function skillNotes({ nodes }: Plan, agents: Agents, skills: readonly Skill[]): string[] {
  const names = Object.values(nodes).flatMap((node) =>
    node.kind === "task" && node.task.agent ? [node.task.agent] : [],
  );
  return [...new Set(names)].flatMap((name) =>
    (knownAgent(agents, name)?.skills ?? [])
      .filter((skill) => !skills.some((one) => one.name === skill))
      .map((skill) => `The agent "${name}" lists the skill "${skill}", which does not exist.`),
  );
}

/** Finds an agent and ignores errors: agents that may not run are reported when the plan is checked. */
function knownAgent(agents: Agents, name: string): Agent | undefined {
  try {
    return agents.find(name);
  } catch {
    return undefined;
  }
}
