import { z } from "zod";

/** The answer to a gate: approval or rejection, with text. */
export const answer = z.strictObject({
  approve: z.boolean(),
  text: z.string().optional(),
  /** Who answered: a person, a rule, another agent. */
  by: z.string().optional(),
  /** Identical calls need no further answer during the run. */
  always: z.boolean().optional(),
  /** For how long "always" holds: this run, this project, or everywhere. */
  scope: z.enum(["run", "project", "user"]).optional(),
});
export type Answer = z.infer<typeof answer>;
