/** For each node of a graph, the nodes that it depends on. */
export type GraphNeeds = ReadonlyMap<string, readonly string[]>;

/**
 * The nodes of a graph in layers: each node is one layer after the last node that it depends on, and inside a layer
 * near the nodes it is connected to, so that few edges cross. Dependencies that are not nodes are ignored; nodes of a
 * cycle share a layer.
 */
export function layersOf(needs: GraphNeeds): readonly (readonly string[])[] {
  const links = linksOf(needs);
  const layers: string[][] = [];
  for (const [id, depth] of depthsOf(links)) (layers[depth] ??= []).push(id);
  const places = new Map<string, number>();
  for (const layer of layers) place(layer, places);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : layers.toReversed()) {
      const centres = new Map(layer.map((id) => [id, centreOf(id, down ? links.before : links.after, places)]));
      layer.sort((a, b) => centres.get(a)! - centres.get(b)!);
      place(layer, places);
    }
  }
  return layers;
}

/**
 * How many passes over all layers reduce crossings, alternately from the first layer and from the last layer. More
 * passes change little.
 */
const SWEEPS = 4;

type Links = Readonly<{
  before: ReadonlyMap<string, readonly string[]>;
  after: ReadonlyMap<string, readonly string[]>;
}>;

function linksOf(needs: GraphNeeds): Links {
  const before = new Map<string, string[]>();
  const after = new Map<string, string[]>(Array.from(needs.keys(), (id) => [id, []]));
  for (const [id, wanted] of needs) {
    const known = [...new Set(wanted)].filter((need) => need !== id && needs.has(need));
    before.set(id, known);
    for (const need of known) after.get(need)!.push(id);
  }
  return { before, after };
}

/** For each node, the length of the longest path to it from a node without dependencies. */
function depthsOf({ before, after }: Links): ReadonlyMap<string, number> {
  const open = new Map(Array.from(before, ([id, list]) => [id, list.length]));
  const depths = new Map<string, number>();
  const ready = [...before.keys()].filter((id) => open.get(id) === 0);
  for (const id of ready) {
    depths.set(id, Math.max(-1, ...before.get(id)!.map((need) => depths.get(need)!)) + 1);
    for (const next of after.get(id)!) {
      open.set(next, open.get(next)! - 1);
      if (open.get(next) === 0) ready.push(next);
    }
  }
  const last = Math.max(-1, ...depths.values()) + 1;
  for (const id of before.keys()) if (!depths.has(id)) depths.set(id, last);
  return depths;
}

/** The position of each node in its layer, between 0 and 1, so that layers of different sizes can be compared. */
function place(layer: readonly string[], places: Map<string, number>): void {
  layer.forEach((id, at) => places.set(id, (at + 0.5) / layer.length));
}

function centreOf(
  id: string,
  links: ReadonlyMap<string, readonly string[]>,
  places: ReadonlyMap<string, number>,
): number {
  const near = links.get(id)!;
  if (near.length === 0) return places.get(id)!;
  return near.reduce((sum, other) => sum + places.get(other)!, 0) / near.length;
}
