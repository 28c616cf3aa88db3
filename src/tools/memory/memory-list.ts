import { z } from "zod";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import type { ToolParts } from "../parts/tool-parts.ts";
import { about, memoryOf, scope } from "./memory-scope.ts";

const input = z.strictObject({ scope });

/** Lists the notes and their authors. */
export const memoryList = (parts: ToolParts = {}): Tool =>
  defineTool({
    name: "memory_list",
    description: "Lists the notes of this project or of the user, with author and time.",
    input,
    effect: "read",
    does: "read",
    timeoutMs: 10_000,
    async run({ scope: where = "project" }) {
      const notes = await memoryOf(parts).list(where);
      return notes.length === 0 ? "[no notes yet]" : notes.map(about).join("\n");
    },
  });
