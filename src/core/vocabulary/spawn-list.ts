import { fitsStars } from "./tool-names.ts";

/**
 * The agents that may be started: any, or the agents of a list. An entry may contain `*`; an entry that begins with `!`
 * excludes agents. The last entry that matches a name decides.
 */
export type Spawns = "*" | readonly string[];

/** True when this list allows an agent of this name. */
export function mayStart(name: string, spawns: Spawns): boolean {
  if (spawns === "*") return true;
  const last = spawns.findLast((entry) => fitsStars(bare(entry), name));
  return last !== undefined && !isExclusion(last);
}

/** A shorter list with the same meaning; `*` if the list allows every agent. */
export function simplerSpawns(entries: readonly string[]): Spawns {
  const last = entries.findLastIndex((entry) => bare(entry) === "*");
  const counting = last < 0 ? entries : entries.slice(isExclusion(entries[last]!) ? last + 1 : last);
  const first = counting.findIndex((entry) => !isExclusion(entry));
  const list = (first < 0 ? [] : counting.slice(first)).filter(
    (entry, at, all) => !isExclusion(entry) || all.slice(0, at).some((other) => takesFrom(entry, other)),
  );
  return list[0] === "*" && !list.some(isExclusion) ? "*" : list;
}

/** True when an exclusion (`!name`) may remove an agent that an earlier entry allows. */
const takesFrom = (exclusion: string, other: string): boolean =>
  !isExclusion(other) && (other.includes("*") || fitsStars(bare(exclusion), other));

/** Names without stars and exclusions, for file formats that know only names. They allow no more than the list. */
export function namesOnly(spawns: readonly string[]): readonly string[] {
  return spawns.filter((entry) => !isExclusion(entry) && !entry.includes("*") && mayStart(entry, spawns));
}

/** The list for people: `every agent but scout`. */
export function spawnsText(spawns: Spawns): string {
  if (spawns === "*") return "every agent";
  const [first, ...rest] = spawns;
  return first === "*" && rest.every(isExclusion) ? `every agent but ${rest.map(bare).join(", ")}` : spawns.join(", ");
}

export const isExclusion = (entry: string): boolean => entry.startsWith("!");

const bare = (entry: string): string => (isExclusion(entry) ? entry.slice(1) : entry);
