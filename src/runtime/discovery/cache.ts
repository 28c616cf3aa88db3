import type { FoundAgent } from "./discover-found.ts";
import type { FileReading } from "./files.ts";

/** The cached result of reading one file, for one folder and file format. */
export type CachedFile = Readonly<{ reading: FileReading; place: string }>;

/** The cache between two searches for agents. A file is unchanged if its path, inode, size and times are the same. */
export type DiscoveryCache = {
  readonly files: Map<string, CachedFile>;
  names: ReadonlyMap<string, FoundAgent["read"]> | undefined;
};

export const createDiscoveryCache = (): DiscoveryCache => ({ files: new Map(), names: undefined });

/** The names of agents that were added, removed or changed between two searches. */
export type DiscoveryChanges = Readonly<{
  added: readonly string[];
  removed: readonly string[];
  changed: readonly string[];
}>;

const NOTHING: DiscoveryChanges = Object.freeze({ added: [], removed: [], changed: [] });

/**
 * Compares the found agents with the agents of the last search, and stores them. The first search reports no changes.
 */
export function changesSince(cache: DiscoveryCache | undefined, agents: readonly FoundAgent[]): DiscoveryChanges {
  if (cache === undefined) return NOTHING;
  const before = cache.names;
  const now = new Map<string, FoundAgent["read"]>();
  cache.names = now;
  const added: string[] = [];
  const changed: string[] = [];
  for (const { name, read } of agents) {
    now.set(name, read);
    const earlier = before?.get(name);
    if (earlier === undefined) added.push(name);
    else if (earlier !== read) changed.push(name);
  }
  if (before === undefined) return NOTHING;
  const isComplete = before.size === now.size - added.length;
  return { added, removed: isComplete ? [] : [...before.keys()].filter((name) => !now.has(name)), changed };
}
