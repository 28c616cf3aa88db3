import { z } from "zod";

/** The parts of the git state that are collected; `true` means branch and status. */
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

/** Context that is gathered once and added to every task of a run. */
export const contextFields = {
  context: z.string().optional().describe("text added to every task"),
  contextFiles: z.array(z.string()).optional().describe("files whose text is added to every task"),
  gitContext: gitContext.optional().describe("git branch, status, diff or log added to every task"),
} as const;

export const contextOptions = z.strictObject(contextFields);
export type ContextOptions = z.infer<typeof contextOptions>;
