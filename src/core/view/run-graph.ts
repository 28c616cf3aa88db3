import { needsOf } from "../plan/graph.ts";
import type { State } from "../run/state.ts";
import type { GraphNeeds } from "./graph-layers.ts";
import { shownNodes } from "./nodes.ts";

/**
 * The graph of a run as paths: the nodes of its plan, nodes that were added later, subagents, and the rounds of loops.
 * A join is replaced by the nodes whose outputs it collects; subagents come after the node that started them.
 */
export function graphOfRun(state: State): GraphNeeds {
  const planned = state.plan?.nodes ?? {};
  const paths = new Set(shownNodes(state).map(({ path }) => path));
  for (const [id, { kind }] of Object.entries(planned)) if (kind !== "join" && !state.nodes.has(id)) paths.add(id);
  const gathered = (id: string, seen: ReadonlySet<string>): string[] => {
    if (seen.has(id)) return [];
    const node = Object.hasOwn(planned, id) ? planned[id] : undefined;
    const inner = new Set([...seen, id]);
    if (node?.kind === "join") return needsOf(node).flatMap((need) => gathered(need, inner));
    if (paths.has(id)) return [id];
    // A loop is shown as its rounds: nodes that depend on the loop come after the nodes of its last round.
    return lastRoundOf(id, paths);
  };
  return new Map(
    Array.from(paths, (path) => {
      const node = Object.hasOwn(planned, path) ? planned[path] : undefined;
      if (node) return [path, needsOf(node).flatMap((need) => gathered(need, new Set()))] as const;
      return [path, startedBy(path, { paths, planned, gathered })] as const;
    }),
  );
}

/** The paths of the nodes in the last round of a loop. */
function lastRoundOf(id: string, paths: ReadonlySet<string>): string[] {
  const rounds = [...paths].flatMap((path) => {
    const round = path.startsWith(`${id}.`) ? /^\.(\d+)\/[^/]*$/.exec(path.slice(id.length))?.[1] : undefined;
    return round === undefined ? [] : [{ path, round: Number(round) }];
  });
  const last = Math.max(0, ...rounds.map(({ round }) => round));
  return rounds.filter(({ round }) => round === last).map(({ path }) => path);
}

type Known = Readonly<{
  paths: ReadonlySet<string>;
  planned: NonNullable<State["plan"]>["nodes"];
  gathered(id: string, seen: ReadonlySet<string>): string[];
}>;

/** The predecessors of a node that is not a node of the plan itself, such as a subagent or a node of a loop's body. */
function startedBy(path: string, { paths, planned, gathered }: Known): string[] {
  const cut = path.lastIndexOf("/");
  if (cut < 0) return [];
  const above = path.slice(0, cut);
  if (paths.has(above)) return [above];
  const [, loop = above, round = "1"] = /^(.*)\.(\d+)$/.exec(above) ?? [];
  const node = Object.hasOwn(planned, loop) ? planned[loop] : undefined;
  if (node?.kind !== "loop") return startedBy(above, { paths, planned, gathered });
  const own = path.slice(cut + 1);
  const body = Object.hasOwn(node.body.nodes, own) ? node.body.nodes[own] : undefined;
  const inside = body
    ? needsOf(body).flatMap((need) => (paths.has(`${above}/${need}`) ? [`${above}/${need}`] : []))
    : [];
  if (inside.length > 0) return inside;
  const before = [...paths].filter((other) => other.startsWith(`${loop}.${Number(round) - 1}/`));
  if (before.length > 0)
    return before.filter(
      (other) =>
        !other
          .slice(loop.length)
          .replace(/^\.\d+\//, "")
          .includes("/"),
    );
  return needsOf(node).flatMap((need) => gathered(need, new Set()));
}
