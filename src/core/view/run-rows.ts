import { isBelow, nodeAt } from "../plan/graph.ts";
import { isEnded, type RunStatus } from "../run/run-status.ts";
import { firstLine, type NodeView, type State } from "../run/state.ts";
import { describe, orderText, shownNodes } from "./nodes.ts";
import { terminalLine } from "./words.ts";
import { type Group, groupOfNode, groupOfPlanned, groupOfRun, groups } from "./row-groups.ts";

/** How many lines a task added and removed. */
export type DiffSize = Readonly<{ added: number; removed: number }>;

/** A run as the screen knows it. */
export type ShownRun = Readonly<{
  id: string;
  state: State;
  life: RunStatus | "damaged";
  problems: readonly string[];
  /** By path; the run itself has the empty one. */
  diffs?: ReadonlyMap<string, DiffSize>;
}>;

/** One row: a task, a gate, or a whole run. */
export type TopRow = Readonly<{
  /** `run/path`, or the id of a run. */
  key: string;
  run: ShownRun;
  /** Empty for the run itself. */
  path: string;
  /** What is known of it once it has begun. */
  node: NodeView | undefined;
  name: string;
  group: Group;
  waitsFor: string;
  /** How many rows of the same group are above it in the tree. */
  depth: number;
  /** The name of the row above it, where that is in another group. */
  inside: string;
  /** How many rows below it are not listed. */
  folded: number;
}>;

/** `one`: only the tasks of one run; otherwise a run that has ended is one row. */
export type RowOptions = Readonly<{ one: boolean; shape: "tree" | "flat" }>;

/** The rows of all runs, by group, and in each group as a tree. */
export function rowsOf(runs: readonly ShownRun[], { one, shape }: RowOptions): TopRow[] {
  const items = runs.flatMap((run) => itemsOf(run, one));
  const byGroup = new Map<Group, TopRow[]>(groups.map((group) => [group, []]));
  const depths = new Map<string, number>();
  for (const { parent, key, run, path, node, name, group, waitsFor, folded } of items) {
    const same = shape === "tree" && parent?.group === group;
    const depth = same ? (depths.get(parent.key) ?? 0) + 1 : 0;
    depths.set(key, depth);
    const inside = !same && parent !== undefined ? parent.name : "";
    // Written out: this runs for every task ten times a second, and copying objects takes most of it.
    byGroup.get(group)!.push({ key, run, path, node, name, group, waitsFor, depth, inside, folded });
  }
  return [...byGroup.values()].flat();
}

/** The tasks of one run in the order of its tree, each with the path of the row above it. */
export function treeRows(run: ShownRun): (TopRow & Readonly<{ parent: string }>)[] {
  const depths = new Map<string, number>();
  return itemsOf(run, true).map(({ parent, ...item }) => {
    const depth = parent === undefined ? 0 : (depths.get(parent.path) ?? 0) + 1;
    depths.set(item.path, depth);
    return { ...item, depth, inside: "", parent: parent?.path ?? "" };
  });
}

/** The row that stands for a whole run. */
export function runRow(run: ShownRun): TopRow {
  const name = describe(run.state) || run.id;
  const { group, waitsFor } = groupOfRun(run.state, run.life);
  return { key: run.id, run, path: "", node: undefined, name, group, waitsFor, depth: 0, inside: "", folded: 0 };
}

type Item = Omit<TopRow, "depth" | "inside"> & Readonly<{ parent: Item | undefined }>;

function itemsOf(run: ShownRun, one: boolean): Item[] {
  const { id, state, life } = run;
  const begun = shownNodes(state).map((node) => ({ path: node.path, node }));
  const seen = new Set(state.nodes.keys());
  const planned = Object.entries(state.plan?.nodes ?? {})
    .filter(([path, { kind }]) => kind !== "join" && !seen.has(path))
    .map(([path]) => ({ path, node: undefined }));
  const all = [...begun, ...planned];
  const only = all.length === 1 && !one;
  if (!one && !only) {
    const ended = isEnded(life) || life === "damaged";
    const root: Item = {
      key: id,
      run,
      path: "",
      node: undefined,
      ...groupOfRun(state, life),
      name: describe(state) || id,
      folded: ended ? all.length : 0,
      parent: undefined,
    };
    return ended ? [root] : [root, ...treeOf(run, all, root)];
  }
  const items = treeOf(run, all, undefined);
  const [first] = items;
  return only && first && state.name !== undefined ? [{ ...first, name: describe(state) }] : items;
}

type Seen = Readonly<{ path: string; node: NodeView | undefined }>;

/** The nodes of a run so that each follows the one it is below. */
function treeOf(run: ShownRun, all: readonly Seen[], root: Item | undefined): Item[] {
  const below = new Map<string, Seen[]>();
  const paths = new Set(all.map(({ path }) => path));
  for (const seen of all) {
    const above = nearestAbove(seen.path, paths);
    const others = below.get(above);
    if (others) others.push(seen);
    else below.set(above, [seen]);
  }
  const items: Item[] = [];
  const walk = (above: string, parent: Item | undefined): void => {
    for (const { path, node } of below.get(above) ?? []) {
      const { group, waitsFor } = node ? groupOfNode(node, run.life) : groupOfPlanned(run.state, path, run.life);
      const name = nameOf(run.state, path, node);
      const item = { key: `${run.id}/${path}`, run, path, node, name, group, waitsFor, folded: 0, parent };
      items.push(item);
      walk(path, item);
    }
  };
  walk("", root);
  return items;
}

/** The nearest row that a path is below: `build` of `build.2/review`; empty when there is none. */
function nearestAbove(path: string, paths: ReadonlySet<string>): string {
  for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) {
    const above = path.slice(0, cut);
    for (const name of [above, above.replace(/\.\d+$/, "")]) if (paths.has(name) && isBelow(path, name)) return name;
  }
  return "";
}

/** A task by what it is asked to do, where its label was only counted out. */
function nameOf(state: State, path: string, node: NodeView | undefined): string {
  const planned = state.plan && nodeAt(state.plan, path);
  // The name of a row is asked for in every frame and hardly ever changes.
  const of = node ?? planned;
  const parts: NameParts = [path, planned, node?.label, node?.agent, node?.asked, node?.order];
  const known = of && names.get(of);
  if (known?.parts.every((part, at) => part === parts[at])) return known.name;
  const name = newName(path, node, planned);
  if (of) names.set(of, { parts, name });
  return name;
}

type NameParts = readonly unknown[];
const names = new WeakMap<object, Readonly<{ parts: NameParts; name: string }>>();

function newName(path: string, node: NodeView | undefined, planned: ReturnType<typeof nodeAt>): string {
  const task = planned?.kind === "task" ? planned.task : undefined;
  const own = path.slice(path.lastIndexOf("/") + 1);
  const label = node && node.label !== node.path ? node.label : (task?.label ?? own);
  const agent = node?.agent ?? task?.agent;
  const asked = node?.asked ?? (task ? firstLine(task.prompt) : "");
  const name = asked !== "" && isCounted(label, agent) ? asked : label;
  return terminalLine(`${name}${orderText(node?.order)}`);
}

/** `explore-7`, `task-2`, `step_1`: a number tells a person nothing. */
const isCounted = (label: string, agent: string | undefined): boolean =>
  label === agent ||
  /^(?:task|step|agent|call|t)[-_. ]?\d*$/i.test(label) ||
  label.replace(/[-_. ]?\d+$/, "") === agent;
