import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";

const input = z.strictObject({
  text: z.string().max(1_000_000).describe("the text; it is encoded as UTF-8"),
  url: z.boolean().optional().describe("URL-safe: with - and _ and without padding"),
});

/** Encodes text as base64. */
export const base64Encode = defineTool({
  name: "base64_encode",
  description: "Encodes a text as base64.",
  input,
  effect: "read",
  does: "none",
  timeoutMs: 10_000,
  run: ({ text, url = false }) => Buffer.from(text, "utf8").toString(url ? "base64url" : "base64"),
});
