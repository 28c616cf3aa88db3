import type { Agent } from "../core/agent/agent.ts";
import type { Plan } from "../core/plan/plan.ts";
import { isStandardSchema, sourceOf, type StandardSchema } from "../core/schema/standard-schema.ts";
import { isRecord, scalarText } from "../core/text/json.ts";
import type { PartSchemas } from "../runtime/run/typed-data.ts";
import type { RunInput } from "./run-input.ts";

/**
 * The library schemas that the result of a run must match: the schema of the task, the race or the last step of the
 * chain, else the schema of the agent of a single task; for parallel tasks and a team, the schemas of the tasks.
 */
export function schemasIn(
  what: RunInput | Plan,
  agents: readonly Agent[] = [],
): StandardSchema | PartSchemas | undefined {
  // the input is not checked yet; `compile` reports any fault later
  const given: unknown = what;
  if (!isRecord(given)) return undefined;
  const { tasks, team, race, chain, task, agent, schema } = given;
  if (Array.isArray(tasks)) return partSchemas(tasks);
  if (isRecord(team) && Array.isArray(team["tasks"])) {
    const parts = partSchemas(team["tasks"]);
    return parts && { ...parts, names: team["tasks"].map((each) => scalarText(each?.id)) };
  }
  const asked = isRecord(race) ? race["schema"] : Array.isArray(chain) ? chain.at(-1)?.schema : undefined;
  if (isStandardSchema(asked)) return asked;
  if (task === undefined) return undefined;
  if (isStandardSchema(schema)) return schema;
  const output = agents.find(({ name }) => name === agent)?.output;
  return schema === undefined && isRecord(output) ? sourceOf(output) : undefined;
}

function partSchemas(tasks: readonly unknown[]): PartSchemas | undefined {
  const parts = tasks.map((task) => (isRecord(task) && isStandardSchema(task["schema"]) ? task["schema"] : undefined));
  return parts.some((schema) => schema !== undefined) ? { parts } : undefined;
}
