type Owner<V> = Readonly<{ nodes: ReadonlyMap<string, V> }>;

/** Nodes of a state that something was true of once; those that it is no longer true of are dropped by who looks. */
export type MarkedNodes<V> = Readonly<{
  add(owner: Owner<V>, view: V): void;
  /** Those that it is still true of. */
  still(owner: Owner<V>, is: (view: V) => boolean): ReadonlySet<V>;
}>;

/** So that what is asked after each event of a run does not look through all its nodes. */
export function createMarkedNodes<V extends Readonly<{ path: string }>>(): MarkedNodes<V> {
  const sets = new WeakMap<Owner<V>, Set<V>>();
  const marked = (owner: Owner<V>): Set<V> => {
    const known = sets.get(owner) ?? new Set(owner.nodes.values());
    sets.set(owner, known);
    return known;
  };
  return {
    add: (owner, view) => void marked(owner).add(view),
    still: (owner, is) => {
      const all = marked(owner);
      for (const view of all) if (!is(view) || owner.nodes.get(view.path) !== view) all.delete(view);
      return all;
    },
  };
}
