import { z } from "zod";
import type { Plan } from "../core/plan/plan.ts";
import { taskSettings } from "../core/plan/task.ts";
import { defined } from "../core/text/defined.ts";
import { attachedImages } from "../core/vocabulary/image.ts";
import { asId } from "./names.ts";
import { runParts, runSettings, settingsOf } from "./settings.ts";

/** The input of single mode: one task. */
export const singleInput = z.strictObject({
  mode: z.literal("single"),
  task: z.string().trim().min(1).describe("the prompt"),
  images: attachedImages.optional().describe("images that the model sees with the prompt, in base64"),
  ...taskSettings,
  ...runSettings,
});
export type SingleInput = z.infer<typeof singleInput>;

/** The plan of single mode: one `task`. */
export function single(input: SingleInput): Plan {
  const id = asId(input.agent ?? "task");
  return {
    ...runParts(input),
    nodes: {
      [id]: {
        kind: "task",
        task: { ...settingsOf(input), prompt: input.task, ...defined({ images: input.images }), refs: {} },
      },
    },
    output: id,
  };
}
