import { z } from "zod";

/** What somebody said to a gate: yes or no, and in which words. */
export const answer = z.strictObject({
  approve: z.boolean(),
  text: z.string().optional(),
  /** Who said it: a person, a rule, another agent. */
  by: z.string().optional(),
});
export type Answer = z.infer<typeof answer>;
