import { isRecord } from "../../core/text/json.ts";
import { mayStart, namesOnly, simplerSpawns } from "../../core/vocabulary/spawn-list.ts";
import { addProblem, type Draft, type KeyReader } from "./draft.ts";
import { flagOf } from "./rules.ts";
import { isNone, toolEntries } from "./tool-entries.ts";

/**
 * Reads which agents the agent may start. `["*"]` is the same as `*`; of a map, the entries with the value true count.
 * An unreadable value allows no agent, and a second key can only narrow the first.
 */
export const spawns: KeyReader = (draft, value, key) => {
  const names = spawnNames(value);
  if (names === undefined) {
    const message = `"${key}" must be "*" or a list of agents. Until this is corrected, the agent may not start other agents.`;
    addProblem(draft, "bad-value", message, { field: key });
  }
  allowSpawns(draft, names ?? [], key);
};

function spawnNames(value: unknown): readonly string[] | undefined {
  if (value === null || value === false) return [];
  if (value === true) return ["*"];
  if (isRecord(value)) {
    const flags = Object.entries(value).map(([name, state]) => [name, flagOf(state)] as const);
    if (flags.some(([, state]) => state === undefined)) return undefined;
    const off = flags.flatMap(([name, on]) => (on || name === "*" ? [] : [`!${name}`]));
    return [...flags.flatMap(([name, on]) => (on ? [name] : [])), ...off];
  }
  const entries = toolEntries(value);
  // A number in the list names no agent, so leaving it out allows nothing.
  if (entries === undefined || entries.unread.some((entry) => typeof entry !== "number")) return undefined;
  if (entries.excluded.length > 0)
    return entries.named.length > 0 ? [...entries.named, ...entries.excluded.map((name) => `!${name}`)] : undefined;
  return entries.named.length === 1 && isNone(entries.named[0]!) ? [] : entries.named;
}

/** Allows these agents to be started; a second key can only narrow the first. */
export function allowSpawns(draft: Draft, names: readonly string[], key: string): void {
  const { agent, from } = draft;
  const wanted = simplerSpawns(names);
  const earlier = agent.spawns;
  if (earlier === undefined || earlier === "*") agent.spawns = wanted;
  else if (wanted !== "*") agent.spawns = inBoth(earlier, wanted);
  from["spawns"] ??= key;
}

/** The agents that both lists allow; if both have patterns, only plain names are kept. */
function inBoth(one: readonly string[], other: readonly string[]): readonly string[] {
  const names = [...new Set([...namesOnly(one), ...namesOnly(other)])];
  return names.filter((name) => mayStart(name, one) && mayStart(name, other));
}
