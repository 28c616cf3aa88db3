import { z } from "zod";

/** Which parts of the git state are gathered; `true` means branch and status. */
const gitContext = z.union([
  z.boolean(),
  z.strictObject({
    branch: z.boolean().optional(),
    diff: z.boolean().optional(),
    diffStats: z.boolean().optional(),
    log: z.union([z.boolean(), z.number().int().min(1).max(1000)]).optional(),
    status: z.boolean().optional(),
  }),
]);

/** Background that is gathered once and handed to every task of a run. */
export const contextFields = {
  context: z.string().optional().describe("text that every task is given"),
  contextFiles: z.array(z.string()).optional().describe("files whose text every task is given"),
  gitContext: gitContext.optional().describe("branch, status, diff or log that every task is given"),
} as const;

export const contextOptions = z.strictObject(contextFields);
export type ContextOptions = z.infer<typeof contextOptions>;
