import { z } from "zod";

/** The answer to a gate: approval or rejection, with text. */
export const answer = z.strictObject({
  approve: z.boolean(),
  text: z.string().optional(),
  /** The name of the person, rule or agent that answered. */
  by: z.string().optional(),
  /** True: identical tool calls need no further answer during the run. */
  always: z.boolean().optional(),
  /** True: the command may use the network this time; only for a question that offers it. */
  network: z.boolean().optional(),
  /** With "always": the rule to allow instead of only this exact tool call, such as `bash(npm test *)`. */
  rule: z.string().max(2_000).optional(),
  /** For how long "always" holds: this run, this process (a conversation), this project, or everywhere. */
  scope: z.enum(["run", "session", "project", "user"]).optional(),
});
export type Answer = z.infer<typeof answer>;
