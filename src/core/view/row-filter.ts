import { cellOf } from "./row-cells.ts";
import type { Group } from "./row-groups.ts";
import type { TopRow } from "./run-rows.ts";

/** The words after `is:` in a filter, and the groups of rows that they mean. */
const states: Readonly<Record<string, readonly Group[]>> = {
  needs: ["needs you"],
  "needs-you": ["needs you"],
  asking: ["needs you"],
  failed: ["failed"],
  working: ["working"],
  running: ["working"],
  waiting: ["waiting"],
  done: ["done"],
  ok: ["done"],
  open: ["needs you", "working", "waiting"],
};

/** Whether a row matches all parts of a filter. */
export type Filter = (row: TopRow) => boolean;

/** Parses `is:failed agent:explore model:x run:y text`; `undefined` for an empty filter. Unknown words are reported. */
export function parseFilter(text: string): Readonly<{ matches: Filter | undefined; unknown: readonly string[] }> {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const unknown: string[] = [];
  const parts = words.map((word): Filter => {
    const [, field = "", wanted = ""] = /^(is|agent|model|run):(.*)$/i.exec(word) ?? [];
    const lower = wanted.toLowerCase();
    switch (field.toLowerCase()) {
      case "is": {
        const meant = Object.hasOwn(states, lower) ? states[lower] : undefined;
        if (!meant) unknown.push(word);
        return (row) => meant?.includes(row.group) ?? false;
      }
      case "agent":
        return (row) => has(cellOf(row, "agent", 0), lower);
      case "model":
        return (row) => has(row.node?.model, lower) || has(cellOf(row, "model", 0), lower);
      case "run":
        return ({ run }) => has(run.id, lower) || has(run.state.name, lower);
      default:
        return (row) => textsOf(row).some((each) => has(each, word.toLowerCase()));
    }
  });
  return { matches: parts.length === 0 ? undefined : (row) => parts.every((part) => part(row)), unknown };
}

/** The words that a filter accepts after `is:`, for the help. */
export const stateWords = Object.keys(states);

const textsOf = (row: TopRow): readonly (string | undefined)[] => [
  cellOf(row, "agent", 0), // the agent column has a text even for tasks that have not begun
  ...ownTexts(row),
];

const ownTexts = ({ name, path, run, node, waitsFor }: TopRow): readonly (string | undefined)[] => [
  name,
  path,
  run.id,
  run.state.name,
  waitsFor,
  node?.doing,
  node?.question,
];

const has = (text: string | undefined, part: string): boolean => text?.toLowerCase().includes(part) ?? false;
