/**
 * Formats agents in one line, each as `name (source): description`. `count` agents are named, `remaining` are left out;
 * an empty list becomes `none`.
 */
export function formatAgentList(agents: readonly ListedAgent[], max: number = agents.length): AgentList {
  const shown = agents.slice(0, Math.max(0, Math.floor(max)));
  const text = shown.map(({ name, source, description }) => `${name} (${source}): ${oneLine(description)}`).join("; ");
  return { text: agents.length === 0 ? "none" : text, count: shown.length, remaining: agents.length - shown.length };
}

/** The fields of an agent that the list shows. */
export type ListedAgent = Readonly<{ name: string; source: string; description: string }>;
/** The line, the number of agents that it names, and the number of agents that it leaves out. */
export type AgentList = Readonly<{ text: string; count: number; remaining: number }>;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
