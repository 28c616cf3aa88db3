import type { WorkflowCommand } from "../core/agent/skill.ts";
import type { AgentCard, Catalog } from "../core/delegation/catalog.ts";
import type { Redactor } from "../core/secrets/redact.ts";
import { defined } from "../core/text/defined.ts";
import type { Workflows } from "../defaults.ts";
import type { Crew } from "./crew-type.ts";
import type { Finds } from "./prepare/finds.ts";
import type { CrewOptions } from "./outfit/options.ts";
import { catalogOf } from "./prepare/known-agents.ts";

/**
 * What models and callers on other machines are told about the agents, skills and commands of a crew: without any known
 * secret.
 */
export function createListings(
  { agents = [] }: CrewOptions,
  finds: Finds,
  redactor: Redactor,
): Pick<Crew, "catalog" | "skills" | "commands"> {
  const withoutSecrets = <T extends WorkflowCommand>({ all, ...rest }: Workflows<T>): Workflows<T> => ({
    ...rest,
    all: all.map((each) => ({
      ...each,
      ...redactor.knownDeep(
        defined({ description: each.description, instructions: each.instructions, argumentHint: each.argumentHint }),
      ),
    })),
  });
  const clean = <T extends AgentCard>(card: T): T => ({ ...card, description: redactor.known(card.description) });
  return {
    catalog: async (): Promise<Catalog> => {
      const { agents: cards, otherScopes, ...rest } = catalogOf(agents, await finds.agents());
      return { ...rest, agents: cards.map(clean), ...(otherScopes && { otherScopes: otherScopes.map(clean) }) };
    },
    skills: async () => withoutSecrets(await finds.skills()),
    commands: async () => withoutSecrets(await finds.commands()),
  };
}
