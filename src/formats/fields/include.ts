import type { FilePlace } from "../../core/agent/dialect.ts";
import { addProblem, type KeyReader } from "./draft.ts";
import { text } from "./rules.ts";

/**
 * Reads a prompt, or the name of the file that holds it: `{file:./prompt.md}` (opencode), `file://./prompt.md` (Kiro).
 */
export const promptOrFile =
  (place: FilePlace): KeyReader =>
  (draft, value, key) => {
    const named =
      typeof value === "string"
        ? (/^\s*\{file:([^}]+)\}\s*$/.exec(value) ?? /^\s*file:\/\/(.+?)\s*$/.exec(value))
        : null;
    if (named === null) return text("instructions")(draft, value, key);
    const content = place.include?.(named[1]!.trim());
    if (content === undefined) {
      const message = `The prompt "${named[1]!.trim()}" cannot be read, or is outside of the folders this file may include from.`;
      return addProblem(draft, "bad-definition", message, { field: key });
    }
    text("instructions")(draft, content.trim(), key);
  };
