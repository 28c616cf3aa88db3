import type { AgentSource } from "../core/agent/agent.ts";
import type { ReadAgent } from "../core/agent/dialect.ts";
import { CrewError } from "../core/schema/error.ts";
import { hasError } from "../core/vocabulary/file-problem.ts";
import { agentFiles } from "../embedded.ts";
import { ownDialect } from "./dialects/own.ts";

/**
 * The bundled agents: first the crew of subcrew, then the agents of other programs, whose folder is their family. A
 * fault in a bundled agent is a bug of subcrew, so this throws.
 */
export function readBundledAgents(files: Readonly<Record<string, string>> = agentFiles): readonly ReadAgent[] {
  const crewFirst = Object.entries(files).toSorted(([a], [b]) => Number(isOfSystem(a)) - Number(isOfSystem(b)));
  return crewFirst.map(([name, text]) => {
    const file = `${name}.md`;
    const { agents, problems } = ownDialect.read(text, { file, relative: file });
    const [agent] = agents;
    const wrong = problems.find(({ severity }) => severity !== "info");
    if (agent === undefined || wrong !== undefined || hasError(problems)) {
      const why = wrong?.message ?? "the file contains no agent";
      throw new CrewError("BAD_AGENT", `The bundled agent ${name} is damaged: ${why}`, "Reinstall subcrew.");
    }
    return isOfSystem(name) ? { ...agent, agent: { ...agent.agent, source: sourceOf(name) } } : agent;
  });
}

const isOfSystem = (name: string): boolean => name.includes("/");
const sourceOf = (name: string): AgentSource => ({ kind: "bundled", family: name.slice(0, name.indexOf("/")) });
