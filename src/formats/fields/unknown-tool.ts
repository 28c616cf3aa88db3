import { nearest } from "../../core/text/nearest.ts";
import { isForeignTool } from "../../core/vocabulary/foreign-tools.ts";
import { ALL_TOOLS, foldName, toolNames } from "../../core/vocabulary/tool-names.ts";
import { addProblem, type Draft } from "./draft.ts";

/** Reports a name that stands for none of our tools. */
export function unknownTool(draft: Draft, name: string, key: string): void {
  if (isForeignTool(name)) {
    const known = `"${name}" is a tool of another program and has no equivalent here.`;
    return addProblem(draft, "unknown-tool", known, { field: key, severity: "info" });
  }
  const close = WHOLE.has(foldName(name))
    ? ALL_TOOLS
    : (nearest(name, toolNames) ?? toolNames.find((known) => foldName(known).startsWith(foldName(name))));
  const message = `There is no tool "${name}"; it has an effect only if the caller provides it.`;
  const hint = close === undefined ? {} : { hint: `Did you mean "${close}"?` };
  addProblem(draft, "unknown-tool", message, { field: key, ...hint });
}

/** What people write for `*`. */
const WHOLE: ReadonlySet<string> = new Set(["all", "any", "every", "everything", "alltools", "inherit", "default"]);
