import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";

const input = z.strictObject({
  data: z.string().min(1).max(2_000_000).describe("the base64 text, standard or URL-safe; line breaks do not matter"),
});

/** Decodes base64 to text; bytes that are not text are reported and shown as hex. */
export const base64Decode = defineTool({
  name: "base64_decode",
  description: "Decodes base64 to text. Bytes that are not text are shown as hex.",
  input,
  effect: "read",
  does: "none",
  timeoutMs: 10_000,
  run({ data }) {
    const plain = data
      .replace(/\s+/g, "")
      .replaceAll("-", "+")
      .replaceAll("_", "/")
      .replace(/={1,2}$/, "");
    if (!/^[A-Za-z0-9+/]*$/.test(plain) || plain.length % 4 === 1) throw new Error("this is not valid base64");
    const bytes = Buffer.from(plain, "base64");
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      const shown = bytes.subarray(0, 256).toString("hex");
      return `[${bytes.length} bytes that are not text]\n${shown}${bytes.length > 256 ? "..." : ""}`;
    }
  },
});
