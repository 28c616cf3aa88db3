import { z } from "zod";
import type { Node, Plan } from "../core/plan/plan.ts";
import { jsonSchema, taskSettings } from "../core/plan/task.ts";
import { defined } from "../core/text/defined.ts";
import { nodeIds } from "./names.ts";
import { runParts, runSettings, settingsOf } from "./settings.ts";

/** The input of a race: several agents or models get the same prompt, and the first good answer wins. */
export const raceInput = z.strictObject({
  mode: z.literal("race"),
  race: z.strictObject({
    task: z.string().trim().min(1).describe("the prompt that every agent or model gets"),
    agents: z.array(z.string().min(1)).min(1).optional().describe("the agents that compete"),
    models: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("the models that compete; with agents, each agent runs on each model"),
    acceptSchema: jsonSchema.optional().describe("an answer that does not match this schema cannot win"),
    acceptCommand: z
      .string()
      .min(1)
      .optional()
      .describe("a command that reads an answer; the answer can win only if the command exits with 0"),
    ...taskSettings,
  }),
  ...runSettings,
});
export type RaceInput = z.infer<typeof raceInput>;

/**
 * The plan of a race: `task x n -> join(first)`. The executor cancels the tasks that are no longer needed once another
 * has won.
 */
export function race({ race, ...input }: RaceInput): Plan {
  const contenders = contendersOf(race);
  const ids = nodeIds(
    contenders.map(({ label }) => ({ else: label })),
    "contenders",
  );
  const nodes: Record<string, Node> = {};
  for (const [index, { agent, model, label }] of contenders.entries()) {
    const settings = settingsOf({ agent, model }, race);
    const accept = defined({ acceptSchema: race.acceptSchema, acceptCommand: race.acceptCommand });
    nodes[ids[index]!] = { kind: "task", task: { ...settings, prompt: race.task, refs: {}, label, ...accept } };
  }
  const output = nodeIds([...ids.map((given) => ({ given, else: given })), { else: "winner" }], "contenders").at(-1)!;
  nodes[output] = { kind: "join", needs: ids, pick: "first" };
  return { ...runParts(input), nodes, output };
}

type Contender = { agent: string | undefined; model: string | undefined; label: string };

function contendersOf({ agents, models, agent }: RaceInput["race"]): Contender[] {
  if (!agents && !models) return [{ agent, model: undefined, label: agent ?? "task" }];
  const both = agents !== undefined && models !== undefined;
  return (agents ?? [agent]).flatMap((name) =>
    (models ?? [undefined]).map((model) => ({
      agent: name,
      model,
      label: both ? `${name}@${model}` : (model ?? name ?? "task"),
    })),
  );
}
