import { isRecord } from "../../core/text/json.ts";
import { addProblem, type Draft, type KeyReader } from "./draft.ts";
import { flagOf } from "./rules.ts";
import { isNone, toolEntries } from "./tool-entries.ts";

/**
 * Which agents it may start. `["*"]` is the same as `*`; a map of booleans means its entries that are true. What cannot be read
 * allows none, and a second key can only narrow the first.
 */
export const spawns: KeyReader = (draft, value, key) => {
  const names = spawnNames(value);
  if (names === undefined) {
    const message = `"${key}" has to be "*" or a list of agents; it may start none.`;
    addProblem(draft, "bad-value", message, { field: key });
  }
  allowSpawns(draft, names ?? [], key);
};

function spawnNames(value: unknown): readonly string[] | undefined {
  if (value === null || value === false) return [];
  if (value === true) return ["*"];
  if (isRecord(value)) {
    const flags = Object.entries(value).map(([name, state]) => [name, flagOf(state)] as const);
    return flags.every(([, state]) => state !== undefined)
      ? flags.flatMap(([name, on]) => (on ? [name] : []))
      : undefined;
  }
  const entries = toolEntries(value);
  if (entries === undefined || entries.unread.length > 0 || entries.excluded.length > 0) return undefined;
  return entries.named.length === 1 && isNone(entries.named[0]!) ? [] : entries.named;
}

/** Allows these agents to be started; a second key can only narrow the first. */
export function allowSpawns(draft: Draft, names: readonly string[], key: string): void {
  const { agent, from } = draft;
  const wanted = names.includes("*") ? ("*" as const) : names;
  const earlier = agent.spawns;
  if (earlier === undefined || earlier === "*") agent.spawns = wanted;
  else if (wanted !== "*") agent.spawns = earlier.filter((name) => wanted.includes(name));
  from["spawns"] ??= key;
}
