import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";

const input = z.strictObject({ message: z.string().min(1).max(2_000).describe("the message, in a sentence or two") });

/** Sends a progress message to the caller of the task. */
export const notify = defineTool({
  name: "notify",
  description:
    "Sends a progress message to the caller while you continue: a milestone, or a finding that cannot wait. It is not your result.",
  input,
  effect: "read",
  does: "none",
  order: () => "write",
  timeoutMs: 5_000,
  run({ message }, { notify: tell }) {
    tell(message);
    return "Told.";
  },
});
