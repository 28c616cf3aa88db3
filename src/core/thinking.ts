import { z } from "zod";

const levels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;

/** How much a model may think: a named level, or a budget in tokens. */
export const thinking = z.union([z.enum(levels), z.number().int().nonnegative()]);
export type Thinking = z.infer<typeof thinking>;
