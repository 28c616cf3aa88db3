import { z } from "zod";
import type { Node, Plan } from "../core/plan/plan.ts";
import { taskSettings } from "../core/plan/task.ts";
import { defined } from "../core/text/defined.ts";
import { nodeIds } from "./names.ts";
import { PREVIOUS, referencesIn, unknownReference } from "./references.ts";
import { runParts, runSettings, settingsOf } from "./settings.ts";

/** The input of a chain: steps that run one after the other. */
export const chainInput = z.strictObject({
  mode: z.literal("chain"),
  chain: z
    .array(
      z.strictObject({
        task: z
          .string()
          .trim()
          .min(1)
          .describe("the prompt of this step; {previous} is replaced by the output of the step before"),
        name: z.string().min(1).optional(),
        ...taskSettings,
      }),
    )
    .min(1),
  ...taskSettings,
  ...runSettings,
});
export type ChainInput = z.infer<typeof chainInput>;

/** The plan of a chain: `task -> task -> ...`; `{previous}` in a prompt refers to the output of the step before. */
export function chain(input: ChainInput): Plan {
  const ids = nodeIds(
    input.chain.map(({ name, agent }, index) => ({ given: name, else: agent ?? input.agent ?? `step_${index + 1}` })),
    "steps",
  );
  const nodes: Record<string, Node> = {};
  const notes: string[] = [];
  for (const [index, step] of input.chain.entries()) {
    const id = ids[index]!;
    const before = ids[index - 1];
    const earlier = ids.slice(0, index);
    const { refs, unknown } = referencesIn(step.task, {
      ids: earlier,
      self: id,
      ...(before !== undefined && { words: { [PREVIOUS]: before } }),
    });
    notes.push(...unknown.map((placeholder) => unknownReference(id, placeholder)));
    const task = {
      ...settingsOf(step, input),
      prompt: step.task,
      refs,
      ...defined({ label: step.name }),
    };
    nodes[id] = { kind: "task", ...(before !== undefined && { needs: [before] }), task };
  }
  return { ...runParts(input, notes), nodes, output: ids.at(-1)! };
}
