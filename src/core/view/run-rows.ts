import { isBelow, nodeAt } from "../plan/graph.ts";
import type { Node } from "../plan/plan.ts";
import { isActive, isEnded, type RunStatus } from "../run/run-status.ts";
import { firstLine, type NodeView, type State } from "../run/state.ts";
import { defined } from "../text/defined.ts";
import { movesOf } from "../schedule/moves.ts";
import { describe, orderText, shownNodes } from "./nodes.ts";
import { terminalLine } from "./words.ts";
import { type Group, groupOfNode, groupOfPlanned, groupOfRun, groups, type Placed } from "./row-groups.ts";

/** How many lines a task added and removed. */
export type DiffSize = Readonly<{ added: number; removed: number }>;

/** A run as the screen shows it. */
export type ShownRun = Readonly<{
  id: string;
  state: State;
  life: RunStatus | "damaged";
  problems: readonly string[];
  /** The sizes of changes by path; the run itself has the empty path. */
  diffs?: ReadonlyMap<string, DiffSize>;
  /**
   * The tasks of a run without a process whose questions were answered; the answers are kept until the run is resumed.
   */
  answered?: readonly string[];
}>;

/**
 * When a run, or one of its tasks, ended or recorded its last event; `undefined` while it is running. The duration of
 * an interrupted run does not grow.
 */
export function shownEnd({ state, life }: Pick<ShownRun, "state" | "life">, node?: NodeView): number | undefined {
  const { endedAt } = node ?? state;
  const isOpen = node ? node.status === "running" : endedAt === undefined;
  if (!isOpen) return endedAt;
  return life === "damaged" || isActive(life) ? undefined : state.lastAt;
}

/** One row of the screen: a task, a gate, or a whole run. */
export type TopRow = Readonly<{
  /** The id of the row: `run/path`, or the id of a run. */
  key: string;
  run: ShownRun;
  /** The task's path; empty for the run itself. */
  path: string;
  /** The state of the node; absent before it begins. */
  node: NodeView | undefined;
  name: string;
  group: Group;
  waitsFor: string;
  /** How many rows of the same group are above this row in the tree, as its parents. */
  depth: number;
  /** The name of this row's parent, if the parent is in another group. */
  inside: string;
  /** How many rows below this row are hidden. */
  folded: number;
}>;

/** `one`: only the tasks of one run; otherwise an ended run takes a single row. */
export type RowOptions = Readonly<{ one: boolean; shape: "tree" | "flat" }>;

/**
 * The rows of all runs, by group, and in each group as a tree. A row that did not change is the same object as before,
 * and the list is the same object while no row moves.
 */
export function rowsOf(runs: readonly ShownRun[], { one, shape }: RowOptions): readonly TopRow[] {
  const [first] = runs;
  if (!first) return [];
  const kind = one ? treesOfOne : treesOfAll;
  const tree = shape === "tree";
  const lists = tree ? kind.trees : kind.flats;
  const known = lists.get(first);
  if (known && isUnmoved(known, runs)) return known.rows;
  const byGroup = groups.map((): TopRow[] => []);
  for (const run of runs)
    for (const place of placesOf(run, one)) {
      const row = rowAt(run, place, tree);
      byGroup[groups.indexOf(row.group)]!.push(row);
    }
  const rows = byGroup.flat();
  lists.set(first, { runs, moves: runs.map(({ state }) => movesOf(state)), rows });
  return rows;
}

/** A list of rows, and for each run the number of moves when the list was made. */
type List = Readonly<{ runs: readonly ShownRun[]; moves: readonly number[]; rows: readonly TopRow[] }>;

function isUnmoved({ runs, moves }: List, now: readonly ShownRun[]): boolean {
  if (runs.length !== now.length) return false;
  for (let at = 0; at < now.length; at += 1)
    if (now[at] !== runs[at] || movesOf(now[at]!.state) !== moves[at]) return false;
  return true;
}

/** Creates the row for a place in the tree. The row of its parent must have been made before. */
function rowAt(run: ShownRun, place: Place, tree: boolean): TopRow {
  const { key, path, node, parent, folded } = place;
  const { group, waitsFor } = groupAt(run, place);
  const name = nameAt(run.state, place);
  const above = parent?.row;
  const same = tree && above?.group === group;
  const depth = same ? above.depth + 1 : 0;
  const inside = !same && above !== undefined ? above.name : "";
  const known = place.row;
  // This code runs for every task whenever one task moves, so it avoids creating objects, which takes most of the time.
  if (
    known?.run === run &&
    known.group === group &&
    known.waitsFor === waitsFor &&
    known.name === name &&
    known.depth === depth &&
    known.inside === inside
  )
    return known;
  place.row = { key, run, path, node, name, group, waitsFor, depth, inside, folded };
  return place.row;
}

/** The tasks of one run in the order of its tree, each with the path of the row above it. */
export function treeRows(run: ShownRun): (TopRow & Readonly<{ parent: string }>)[] {
  const depths = new Map<string, number>();
  return placesOf(run, true).map((place) => {
    const { key, path, node, parent, folded } = place;
    const depth = parent === undefined ? 0 : (depths.get(parent.path) ?? 0) + 1;
    depths.set(path, depth);
    const placed = groupAt(run, place);
    return {
      key,
      run,
      path,
      node,
      name: nameAt(run.state, place),
      ...placed,
      depth,
      inside: "",
      folded,
      parent: parent?.path ?? "",
    };
  });
}

/** The row that stands for a whole run. */
export function runRow(run: ShownRun): TopRow {
  const name = describe(run.state) || run.id;
  const { group, waitsFor } = groupOfRun(run.state, run.life);
  return { key: run.id, run, path: "", node: undefined, name, group, waitsFor, depth: 0, inside: "", folded: 0 };
}

/** The position of a row in the tree of its run, which hardly ever changes, and the row that was last made for it. */
type Place = {
  readonly key: string;
  readonly path: string;
  readonly node: NodeView | undefined;
  readonly planned: Node | undefined;
  readonly parent: Place | undefined;
  readonly folded: number;
  /** True: the row stands for the whole run, because it is the row of the run itself or of its only task. */
  readonly ofRun: boolean;
  row: TopRow | undefined;
  name: (NameParts & Readonly<{ text: string }>) | undefined;
};

/** The values that the name of a started task depends on. */
type NameParts = Pick<NodeView, "label" | "agent" | "asked" | "order">;

const groupAt = ({ state, life, answered = [] }: ShownRun, place: Place): Placed =>
  place.path === ""
    ? groupOfRun(state, life)
    : place.node
      ? groupOfNode(place.node, life, answered.includes(place.path))
      : groupOfPlanned(state, place, life);

function nameAt(state: State, place: Place): string {
  const { path, node, planned, ofRun, key, name } = place;
  if (path === "") return describe(state) || key;
  if (ofRun && state.name !== undefined) return describe(state);
  if (name && (!node || isNamedSame(name, node))) return name.text;
  const { label = "", agent, asked, order } = node ?? {};
  const text = newName(path, node, planned);
  place.name = { label, agent, text, ...defined({ asked, order }) };
  return text;
}

const isNamedSame = (name: NameParts, node: NameParts): boolean =>
  name.label === node.label && name.agent === node.agent && name.asked === node.asked && name.order === node.order;

/**
 * The places of a run's rows in the tree, computed again only when a node was added or removed, or the run has ended.
 * They are not cached while a loop has failed: whether that loop is shown depends on the outcomes of the other loops.
 */
function placesOf(run: ShownRun, one: boolean): readonly Place[] {
  const { state, life } = run;
  const folds = !one && (isEnded(life) || life === "damaged");
  const { places: trees } = one ? treesOfOne : treesOfAll;
  const known = trees.get(state);
  if (known && known.folds === folds && known.plan === state.plan && isSame(state, known)) return known.places;
  const nodes = [...state.nodes.values()];
  const kinds = nodes.map(({ kind }) => kind);
  const places = newPlaces(run, one, folds);
  if (nodes.some(isFailedLoop)) trees.delete(state);
  else trees.set(state, { folds, plan: state.plan, nodes, kinds, places });
  return places;
}

type Tree = Readonly<{
  folds: boolean;
  plan: State["plan"];
  nodes: readonly NodeView[];
  kinds: readonly NodeView["kind"][];
  places: readonly Place[];
}>;
/**
 * Caches of the rows for the tasks of one run, and of the rows for a list of runs (found by the first run of the list).
 */
type Made = Readonly<{ places: WeakMap<State, Tree>; trees: WeakMap<ShownRun, List>; flats: WeakMap<ShownRun, List> }>;
const nothingMade = (): Made => ({ places: new WeakMap(), trees: new WeakMap(), flats: new WeakMap() });
const treesOfOne = nothingMade();
const treesOfAll = nothingMade();

const isFailedLoop = ({ kind, status }: NodeView): boolean => kind === "loop" && status === "failed";

/** Whether the run still has the same nodes to show. */
function isSame({ nodes: now }: State, { nodes, kinds }: Tree): boolean {
  if (now.size !== nodes.length) return false;
  let at = 0;
  for (const node of now.values()) {
    if (node !== nodes[at] || node.kind !== kinds[at] || isFailedLoop(node)) return false;
    at += 1;
  }
  return true;
}

function newPlaces(run: ShownRun, one: boolean, folds: boolean): Place[] {
  const { id, state } = run;
  const begun = shownNodes(state).map((node) => ({ path: node.path, node }));
  const planned = Object.entries(state.plan?.nodes ?? {})
    .filter(([path, { kind }]) => kind !== "join" && !state.nodes.has(path))
    .map(([path]) => ({ path, node: undefined }));
  const all = [...begun, ...planned];
  if (one) return treeOf(run, all, undefined);
  if (all.length === 1) return treeOf(run, all, undefined).map((place) => ({ ...place, ofRun: true }));
  const folded = folds ? all.length : 0;
  const root = placeOf({ key: id, path: "", folded, ofRun: true });
  return folds ? [root] : [root, ...treeOf(run, all, root)];
}

const placeOf = (place: Pick<Place, "key" | "path"> & Partial<Place>): Place => ({
  node: undefined,
  planned: undefined,
  parent: undefined,
  folded: 0,
  ofRun: false,
  row: undefined,
  name: undefined,
  ...place,
});

type Seen = Readonly<{ path: string; node: NodeView | undefined }>;

/** The places of a run's nodes, ordered so that each child follows its parent. */
function treeOf({ id, state: { plan } }: ShownRun, all: readonly Seen[], root: Place | undefined): Place[] {
  const below = new Map<string, Seen[]>();
  const paths = new Set(all.map(({ path }) => path));
  for (const seen of all) {
    const above = nearestAbove(seen.path, paths);
    const others = below.get(above);
    if (others) others.push(seen);
    else below.set(above, [seen]);
  }
  const places: Place[] = [];
  const walk = (above: string, parent: Place | undefined): void => {
    for (const { path, node } of below.get(above) ?? []) {
      const place = placeOf({ key: `${id}/${path}`, path, node, parent, planned: plan && nodeAt(plan, path) });
      places.push(place);
      walk(path, place);
    }
  };
  walk("", root);
  return places;
}

/** The path of the nearest row above a path: `build` of `build.2/review`; empty when there is none. */
function nearestAbove(path: string, paths: ReadonlySet<string>): string {
  for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) {
    const above = path.slice(0, cut);
    for (const name of [above, above.replace(/\.\d+$/, "")]) if (paths.has(name) && isBelow(path, name)) return name;
  }
  return "";
}

/**
 * The name of a task or gate. Where the label of a task is only a counter such as `task-2`, the name is the first line
 * of its prompt; a gate is named with the work that it is about, such as `approval of page`.
 */
function newName(path: string, node: NodeView | undefined, planned: Node | undefined): string {
  const task = planned?.kind === "task" ? planned.task : undefined;
  const parts = path.split("/");
  const own = parts.at(-1)!;
  const loop = parts.at(-2)?.replace(/\.\d+$/, "");
  if (loop !== undefined && (node?.kind ?? planned?.kind) === "gate")
    return terminalLine(`${own} of ${loop}${orderText(node?.order)}`);
  const label = node && node.label !== node.path ? node.label : (task?.label ?? own);
  const agent = node?.agent ?? task?.agent;
  const asked = node?.asked ?? (task ? firstLine(task.prompt) : "");
  const name = asked !== "" && isCounted(label, agent) ? asked : label;
  return terminalLine(`${name}${orderText(node?.order)}`);
}

/**
 * True for labels that consist of a name and a number, such as `explore-7`, `task-2` or `step_1`: they tell a person
 * nothing.
 */
const isCounted = (label: string, agent: string | undefined): boolean =>
  label === agent ||
  /^(?:task|step|agent|call|t)[-_. ]?\d*$/i.test(label) ||
  label.replace(/[-_. ]?\d+$/, "") === agent;
