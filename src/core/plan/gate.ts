import { z } from "zod";

/** What somebody said to a gate: yes or no, and in which words. */
export const answer = z.strictObject({
  approve: z.boolean(),
  text: z.string().optional(),
  /** Who said it: a person, a rule, another agent. */
  by: z.string().optional(),
  /** The same again needs no answer any more while the run lasts. */
  always: z.boolean().optional(),
  /** For how long "always" holds: this run, this project, or everywhere. */
  scope: z.enum(["run", "project", "user"]).optional(),
});
export type Answer = z.infer<typeof answer>;
