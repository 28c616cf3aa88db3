import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";

const input = z.strictObject({
  to: z
    .string()
    .min(1)
    .describe("receiver: name, path or id of a running task of this run, such as an agent you started, or `parent`"),
  message: z.string().min(1).max(10_000).describe("the message; the receiver reads it before its next turn"),
});

/** Sends a message to another agent of the same run. */
export const sendMessage = defineTool({
  name: "send_message",
  description:
    "Sends a message to another agent of this run: one that you started, one that your parent started, or `parent`. You get a receipt, not an answer; an answer arrives as a message.",
  input,
  effect: "read",
  does: "none",
  order: () => "write",
  timeoutMs: 30_000,
  async run({ to, message }, { send }) {
    const receipt = (await send?.(to, message)) ?? {
      done: false,
      text: "No other agent is running that could receive a message.",
    };
    return { text: receipt.text, error: !receipt.done };
  },
});
