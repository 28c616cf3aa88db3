import { z } from "zod";
import type { Node, Plan } from "../core/plan/plan.ts";
import { taskSettings } from "../core/plan/task.ts";
import { defined } from "../core/text/defined.ts";
import { nodeIds } from "./names.ts";
import { referencesIn, unknownReference } from "./references.ts";
import { runParts, runSettings, settingsOf } from "./settings.ts";

/** The input of parallel mode: many tasks in parallel. */
export const parallelInput = z.strictObject({
  mode: z.literal("parallel"),
  tasks: z
    .array(
      z.strictObject({
        task: z
          .string()
          .trim()
          .min(1)
          .describe("the prompt; {task_0} or {task:name} is replaced by another task's output"),
        name: z.string().min(1).optional().describe("name by which other tasks refer to this task"),
        ...taskSettings,
      }),
    )
    .min(1),
  ...taskSettings,
  ...runSettings,
});
export type ParallelInput = z.infer<typeof parallelInput>;

/** The plan of parallel mode: `task x n -> join(settled)`. A task waits only if its prompt refers to another task. */
export function parallel(input: ParallelInput): Plan {
  const ids = nodeIds(
    input.tasks.map(({ name, agent }, index) => ({ given: name, else: agent ?? input.agent ?? `task_${index}` })),
    "tasks",
  );
  const nodes: Record<string, Node> = {};
  const notes: string[] = [];
  for (const [index, task] of input.tasks.entries()) {
    const id = ids[index]!;
    const { refs, unknown } = referencesIn(task.task, { ids, self: id });
    notes.push(...unknown.map((placeholder) => unknownReference(id, placeholder)));
    nodes[id] = {
      kind: "task",
      task: {
        ...settingsOf(task, input),
        prompt: task.task,
        refs,
        ...defined({ label: task.name }),
      },
    };
  }
  const output = nodeIds([...ids.map((given) => ({ given, else: given })), { else: "all" }], "tasks").at(-1)!;
  nodes[output] = { kind: "join", needs: ids, pick: "settled" };
  return { ...runParts(input, notes), nodes, output };
}
