import { z } from "zod";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import type { ToolParts } from "../parts/tool-parts.ts";
import { changed, key, memoryOf, originOf, scope } from "./memory-scope.ts";

const input = z.strictObject({
  key,
  old: z.string().min(1).describe("the text to replace, copied exactly; it must occur once"),
  new: z.string().describe("the new text; an empty text removes the piece"),
  scope,
});

/** Replaces one passage of a note. */
export const memoryPatch = (parts: ToolParts = {}): Tool =>
  defineTool({
    name: "memory_patch",
    description: "Replaces one piece of text in a note. The piece must occur exactly once.",
    input,
    effect: "write",
    does: "memory",
    subjects: ({ key: name }) => [{ kind: "name", name }],
    timeoutMs: 20_000,
    async run({ key: name, old, new: next, scope: where = "project" }, context) {
      const patch = (now: { text: string } | undefined): string => {
        if (!now) throw new Error(`the note "${name}" does not exist`);
        const at = now.text.indexOf(old);
        if (at < 0) throw new Error(`the text is not in "${name}": read the note and copy the piece exactly`);
        if (now.text.includes(old, at + 1))
          throw new Error(`the text occurs more than once in "${name}": include more of the surrounding text`);
        return now.text.slice(0, at) + next + now.text.slice(at + old.length);
      };
      return changed(await memoryOf(parts).change(where, name, patch, originOf(context), context.signal));
    },
  });
