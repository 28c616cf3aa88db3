import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";

const input = z.strictObject({
  to: z
    .string()
    .min(1)
    .describe("who: the name or path of a task that runs in this run, such as a helper of yours, or `parent`"),
  message: z.string().min(1).max(10_000).describe("what to say; it is read before the next turn"),
});

/** Says something to another agent of the same run while both go on. */
export const sendMessage = defineTool({
  name: "send_message",
  description:
    "Says something to another agent that works in this run: a helper that you started, one that works beside you, or `parent`. You get a receipt, not an answer; an answer comes as a message to you.",
  input,
  effect: "read",
  does: "none",
  timeoutMs: 30_000,
  async run({ to, message }, { send }) {
    const receipt = (await send?.(to, message)) ?? { done: false, text: "There are no other agents here." };
    return { text: receipt.text, error: !receipt.done };
  },
});
