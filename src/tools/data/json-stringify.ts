import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";

const input = z.strictObject({
  value: z.unknown().describe("any value"),
  indent: z.int().min(0).max(8).optional().describe("spaces per level; default 0, which writes one line"),
});

/** Formats a value as JSON. */
export const jsonStringify = defineTool({
  name: "json_stringify",
  description: "Writes a value as JSON text, on one line or indented.",
  input,
  effect: "read",
  does: "none",
  timeoutMs: 10_000,
  run: ({ value, indent = 0 }) => JSON.stringify(value ?? null, null, indent),
});
