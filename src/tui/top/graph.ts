import { layersOf } from "../../core/view/graph-layers.ts";
import { graphOfRun } from "../../core/view/run-graph.ts";
import { widthOf } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import type { Field } from "./field-screen.ts";
import { fieldOf } from "./layout.ts";
import type { TopRow } from "../../core/view/run-rows.ts";

/** The tasks of one run as columns of nodes, with lines from each task to the tasks that come after it. */
type Graph = Readonly<{ layers: readonly (readonly Cell[])[]; height: number; edges: readonly Edge[] }>;
/** A cell in a column of the graph: a node, or a point where a line passes through the column. */
type Cell = Readonly<{ id: string; row: TopRow | undefined; y: number }>;
type Edge = Readonly<{ layer: number; from: Cell; to: Cell }>;

/** The rows in the order of the graph: layer by layer, from top to bottom. */
export function inGraphOrder(rows: readonly TopRow[]): readonly TopRow[] {
  return graphOf(rows).layers.flatMap((layer) => layer.flatMap(({ row }) => row ?? []));
}

/** The id of the nearest node in the column to the right (`1`) or left (`-1`) of the selected node. */
export function besideInGraph(rows: readonly TopRow[], selected: string, by: 1 | -1): string | undefined {
  const { layers } = graphOf(rows);
  const at = layers.findIndex((layer) => layer.some(({ row }) => row?.key === selected));
  const y = layers[at]?.find(({ row }) => row?.key === selected)?.y ?? 0;
  const near = (layers[at + by] ?? [])
    .filter(({ row }) => row !== undefined)
    .toSorted((a, b) => Math.abs(a.y - y) - Math.abs(b.y - y));
  return near[0]?.row?.key;
}

type GraphCanvas = Readonly<{
  columns: number;
  height: number;
  look: Look;
  selected: string | undefined;
  sign(row: TopRow): Readonly<{ text: string; paint: (text: string) => string }>;
}>;

/** The part of the graph around the selected node, and the number of nodes outside of it. */
export function graphRows(
  rows: readonly TopRow[],
  { columns, height, look, selected, sign }: GraphCanvas,
): Readonly<{ rows: Field[][]; hidden: number }> {
  const graph = graphOf(rows);
  const lanes = lanesOf(graph);
  const widest = Math.max(0, ...rows.map(({ name }) => widthOf(name))) + HEAD;
  const gaps = lanes.map((count) => count + 2);
  const wanted = (columns - gaps.reduce((sum, gap) => sum + gap, 0)) / Math.max(1, graph.layers.length);
  const width = Math.max(LEAST_NODE, Math.min(MOST_NODE, widest, Math.floor(wanted)));
  const lefts = graph.layers.map((_, layer) => layer * width + gaps.slice(0, layer).reduce((sum, gap) => sum + gap, 0));
  const at = graph.layers.findIndex((layer) => layer.some(({ row }) => row !== undefined && row.key === selected));
  const y = graph.layers[at]?.find(({ row }) => row?.key === selected)?.y ?? 0;
  const all = (lefts.at(-1) ?? 0) + width;
  const left = Math.max(0, Math.min((lefts[at] ?? 0) - Math.floor((columns - width) / 2), all - columns));
  const top = Math.max(0, Math.min(y - Math.floor(height / 2), graph.height - height));
  const inks = new Inks();
  for (const edge of graph.edges) drawEdge(inks, edge, { lefts, width, lane: laneOf(graph, edge, lanes) });
  graph.layers.forEach((layer, index) => {
    for (const { row, y: line } of layer) if (!row) inks.across(line, lefts[index]! - 1, lefts[index]! + width);
  });
  let shown = 0;
  const lines = Array.from({ length: Math.min(height, graph.height) }, (_, offset): Field[] => {
    const line = top + offset;
    const nodes = graph.layers.flatMap((layer, index) => {
      const row = layer.find((cell) => cell.y === line)?.row;
      const start = lefts[index]! - left;
      if (!row || start < 0 || start + width > columns) return [];
      shown += 1;
      return [{ row, start }];
    });
    return fieldsOf(nodes, {
      width,
      columns,
      look,
      selected,
      sign,
      ink: (column) => inks.at(line, column + left, look),
    });
  });
  return { rows: lines, hidden: rows.length - shown };
}

/** The columns before the name of a node: selection mark, state and a space. */
const HEAD = 4;
const LEAST_NODE = 14;
const MOST_NODE = 34;
const MOST_LANES = 5;

type LineOptions = Pick<GraphCanvas, "columns" | "look" | "selected" | "sign"> &
  Readonly<{ width: number; ink(column: number): string }>;

/** One row of the screen: nodes, and the lines between them. */
function fieldsOf(
  nodes: readonly Readonly<{ row: TopRow; start: number }>[],
  { width, columns, look, selected, sign, ink }: LineOptions,
): Field[] {
  const fields: Field[] = [];
  const lines = (from: number, to: number): void => {
    const text = Array.from({ length: Math.max(0, to - from) }, (_, at) => ink(from + at)).join("");
    if (text.trim() !== "") fields.push({ column: from, width: to - from, text, paint: look.colors.dim });
  };
  let end = 0;
  for (const { row, start } of nodes) {
    lines(end, start);
    const chosen = row.key === selected;
    const { text, paint } = sign(row);
    fields.push(
      { column: start, width: 2, text: chosen ? ">" : " " },
      { column: start + 2, width: 2, text, paint },
      fieldOf(row.name, { at: start + HEAD, width: width - HEAD + 1 }, look, chosen ? look.colors.inverse : undefined),
    );
    fields[fields.length - 1] = { ...fields.at(-1)!, width: width - HEAD };
    end = start + width;
  }
  lines(end, columns);
  return fields;
}

/** The graph with a position for each node, and for each line that crosses a layer. */
function graphOf(rows: readonly TopRow[]): Graph {
  const [first] = rows;
  if (!first) return { layers: [], height: 0, edges: [] };
  const byPath = new Map(rows.map((row) => [row.path, row]));
  const whole = graphOfRun(first.run.state);
  const needs = new Map(
    Array.from(byPath.keys(), (path) => [path, (whole.get(path) ?? []).filter((need) => byPath.has(need))]),
  );
  const depth = new Map<string, number>();
  layersOf(needs).forEach((layer, at) => layer.forEach((id) => depth.set(id, at)));
  const long = new Map<string, string[]>();
  for (const [path, list] of needs)
    long.set(
      path,
      list.map((need) => {
        let before = need;
        for (let at = depth.get(need)! + 1; at < depth.get(path)!; at += 1) {
          const through = `${need}\u0000${at}`; // this point is shared by all lines that start at the same node
          long.set(through, [before]);
          before = through;
        }
        return before;
      }),
    );
  const cells = new Map<string, Cell>();
  const layers = layersOf(long).map((layer) => {
    let next = 0;
    return layer.map((id) => {
      const from = (long.get(id) ?? []).map((need) => cells.get(need)?.y ?? 0);
      const centre = from.length === 0 ? next : Math.round(from.reduce((sum, y) => sum + y, 0) / from.length);
      const cell: Cell = { id, row: byPath.get(id), y: Math.max(next, Math.min(centre, next + MOST_SHIFT)) };
      next = cell.y + 1;
      cells.set(id, cell);
      return cell;
    });
  });
  const edges = layers.flatMap((layer, at) =>
    layer.flatMap((to) =>
      (long.get(to.id) ?? []).flatMap((need): Edge[] => {
        const from = cells.get(need);
        return from && at > 0 ? [{ layer: at - 1, from, to }] : [];
      }),
    ),
  );
  return { layers, height: Math.max(0, ...[...cells.values()].map(({ y }) => y + 1)), edges };
}

/**
 * A node is drawn at most this number of rows below the node above it in its column, even if its inputs are further
 * down.
 */
const MOST_SHIFT = 12;

/** How many screen columns are reserved for vertical lines after each column of nodes. */
function lanesOf({ layers, edges }: Graph): number[] {
  return layers.map((_, layer) => Math.min(MOST_LANES, turningIn(edges, layer).length));
}

/** The nodes of a column that have a line to another row. */
function turningIn(edges: readonly Edge[], layer: number): string[] {
  return [
    ...new Set(edges.filter((edge) => edge.layer === layer && edge.from.y !== edge.to.y).map(({ from }) => from.id)),
  ];
}

function laneOf({ edges }: Graph, { layer, from }: Edge, lanes: readonly number[]): number {
  const at = turningIn(edges, layer).indexOf(from.id);
  return at < 0 ? 0 : at % Math.max(1, lanes[layer]!);
}

function drawEdge(
  inks: Inks,
  { layer, from, to }: Edge,
  { lefts, width, lane }: Readonly<{ lefts: readonly number[]; width: number; lane: number }>,
): void {
  const start = lefts[layer]! + width - 1;
  const end = lefts[layer + 1]!;
  const turn = start + 2 + lane;
  inks.across(from.y, start, turn);
  inks.along(turn, from.y, to.y);
  inks.across(to.y, turn, end);
}

const UP = 1;
const DOWN = 2;
const LEFT = 4;
const RIGHT = 8;
const REAL = " ╵╷│╴┘┐┤╶└┌├─┴┬┼";
const PLAIN = "  ||-+++-+++-+++";

/** A character grid for the lines of the graph; crossing lines are joined. */
class Inks {
  readonly #cells = new Map<string, number>();

  across(y: number, from: number, to: number): void {
    for (let x = from; x < to; x += 1) {
      this.#add(y, x, RIGHT);
      this.#add(y, x + 1, LEFT);
    }
  }

  along(x: number, from: number, to: number): void {
    for (let y = Math.min(from, to); y < Math.max(from, to); y += 1) {
      this.#add(y, x, DOWN);
      this.#add(y + 1, x, UP);
    }
  }

  at(y: number, x: number, { signs }: Look): string {
    return (signs.frame[5] === "|" ? PLAIN : REAL)[this.#cells.get(`${y},${x}`) ?? 0]!;
  }

  #add(y: number, x: number, bit: number): void {
    this.#cells.set(`${y},${x}`, (this.#cells.get(`${y},${x}`) ?? 0) | bit);
  }
}
