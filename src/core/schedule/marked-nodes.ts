type Owner<V> = Readonly<{ nodes: ReadonlyMap<string, V> }>;

/**
 * A set of nodes that had a certain property when they were added. Nodes that have lost the property are removed when
 * the set is read.
 */
export type MarkedNodes<V> = Readonly<{
  add(owner: Owner<V>, view: V): void;
  /** The nodes of the set that still have the property. */
  still(owner: Owner<V>, is: (view: V) => boolean): ReadonlySet<V>;
}>;

/** Creates the set. With the set, the nodes of a run need not all be searched after each event. */
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
