import { nearest } from "../../core/text/nearest.ts";
import { isForeignTool } from "../../core/vocabulary/foreign-tools.ts";
import { ALL_TOOLS, foldName, toolNames, toolSpellings } from "../../core/vocabulary/tool-names.ts";
import { addProblem, type Draft } from "./draft.ts";

/** Reports a name that is not a tool of subcrew. */
export const unknownTool = (draft: Draft, name: string, key: string): void => unknownTools(draft, [name], key);

/** Reports names that are not tools of subcrew: each name that resembles a tool by itself, all other names together. */
export function unknownTools(draft: Draft, names: readonly string[], key: string): void {
  const foreign = names.filter(isForeignTool);
  if (foreign.length > 0) {
    const message =
      foreign.length === 1
        ? `"${foreign[0]}" is a tool of another program and has no equivalent in subcrew.`
        : `${listed(foreign)} are tools of other programs and have no equivalents in subcrew.`;
    addProblem(draft, "unknown-tool", message, { field: key, severity: "info" });
  }
  const others = names.filter((name) => !isForeignTool(name));
  for (const name of others.filter((each) => resembling(each) !== undefined).slice(0, MAX_TOLD)) {
    const hint = `Did you mean "${resembling(name)}"?`;
    addProblem(draft, "unknown-tool", `Unknown tool "${name}"; ${EFFECT}.`, { field: key, hint });
  }
  const strange = others.filter((name) => resembling(name) === undefined);
  if (strange.length === 0) return;
  const message =
    strange.length === 1
      ? `Unknown tool "${strange[0]}"; ${EFFECT}.`
      : `Unknown tools ${listed(strange)}; these entries have an effect only if the caller provides such tools.`;
  addProblem(draft, "unknown-tool", message, {
    field: key,
    hint: "Remove the name, or write `mcp__SERVER__TOOL` for the tool of a server.",
  });
}

const EFFECT = "the entry has an effect only if the caller provides such a tool";
/** Maximum number of unknown names in one report. */
const MAX_TOLD = 20;

const listed = (names: readonly string[]): string =>
  names
    .slice(0, MAX_TOLD)
    .map((name) => `"${name.slice(0, 80)}"`)
    .join(", ") + (names.length > MAX_TOLD ? ` and ${names.length - MAX_TOLD} more` : "");

const spellings = Object.values(toolSpellings).flat();

function resembling(name: string): string | undefined {
  if (WHOLE.has(foldName(name))) return ALL_TOOLS;
  return (
    nearest(name, toolNames) ??
    nearest(name, spellings) ??
    toolNames.find((known) => foldName(known).startsWith(foldName(name)))
  );
}

/** Words that people write for "all tools" instead of `*`. */
const WHOLE: ReadonlySet<string> = new Set(["all", "any", "every", "everything", "alltools", "inherit", "default"]);
