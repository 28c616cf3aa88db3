import { z } from "zod";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import type { ToolParts } from "../parts/tool-parts.ts";
import { changed, key, memoryOf, originOf, scope } from "./memory-scope.ts";

const input = z.strictObject({
  key,
  text: z.string().min(1),
  scope,
  revision: z.int().min(0).optional().describe("the revision that memory_read showed; 0: a new note"),
  overwrite: z.boolean().optional(),
});

/** Writes a note. An existing note is replaced only with its revision, so that concurrent changes are not lost. */
export const memoryWrite = (parts: ToolParts = {}): Tool =>
  defineTool({
    name: "memory_write",
    description:
      "Saves a note for later runs. To replace an existing note, give the revision that you read, or overwrite: true.",
    input,
    effect: "write",
    does: "memory",
    subjects: ({ key: name }) => [{ kind: "name", name }],
    timeoutMs: 20_000,
    async run({ key: name, text, scope: where = "project", revision, overwrite = false }, context) {
      const replace = (now: { revision: number } | undefined): string => {
        const is = now?.revision ?? 0;
        if (revision !== undefined && revision !== is)
          throw new Error(
            `"${name}" was changed meanwhile: the note is at revision ${is}, not ${revision}. Read the note and write again`,
          );
        if (revision === undefined && is > 0 && !overwrite)
          throw new Error(
            `"${name}" exists (revision ${is}): read it first and give its revision, use memory_append or memory_patch, or set overwrite: true`,
          );
        return text;
      };
      return changed(await memoryOf(parts).change(where, name, replace, originOf(context), context.signal));
    },
  });
