import { z } from "zod";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import type { ToolParts } from "../parts/tool-parts.ts";
import { changed, key, memoryOf, originOf, scope } from "./memory-scope.ts";

const input = z.strictObject({ key, text: z.string().min(1).describe("text to append, on lines of its own"), scope });

/** Appends to a note, or creates it. */
export const memoryAppend = (parts: ToolParts = {}): Tool =>
  defineTool({
    name: "memory_append",
    description:
      "Appends lines to a note, and creates it if needed. Lines that others append at the same time are kept.",
    input,
    effect: "write",
    does: "memory",
    subjects: ({ key: name }) => [{ kind: "name", name }],
    timeoutMs: 20_000,
    async run({ key: name, text, scope: where = "project" }, context) {
      const line = text.endsWith("\n") ? text : `${text}\n`;
      const add = (now: { text: string } | undefined): string =>
        now === undefined || now.text === "" || now.text.endsWith("\n")
          ? `${now?.text ?? ""}${line}`
          : `${now.text}\n${line}`;
      return changed(await memoryOf(parts).change(where, name, add, originOf(context), context.signal));
    },
  });
