import { z } from "zod";
import { resourceLimits } from "../vocabulary/limits-schema.ts";
import { thinking } from "../vocabulary/thinking.ts";

/** The lowest and the highest value of a model's sampling settings, such as the temperature. */
export const SAMPLING = { temperature: { min: 0, max: 2 }, topP: { min: 0, max: 1 } } as const;

const { temperature, topP } = SAMPLING;

/** The settings of an agent whose values are numbers, with their names in settings and code. */
export const agentNumbers = {
  thinking: thinking.optional().describe("thinking level of the agent's model"),
  limits: resourceLimits.optional().describe("limits on time, turns and tool calls"),
  cacheMs: z
    .number()
    .int()
    .positive()
    .optional()
    .describe(
      "how long the results of the agent may be reused, in milliseconds; only for agents that cannot change anything",
    ),
  temperature: z.number().min(temperature.min).max(temperature.max).optional().describe("sampling temperature"),
  topP: z.number().min(topP.min).max(topP.max).optional().describe("nucleus sampling (top_p), from 0 to 1"),
} as const;
