import fc from "fast-check";
import { failed } from "../../../src/core/outcome/outcome.ts";
import type { Answer } from "../../../src/core/plan/gate.ts";
import type { Body, Node, Plan } from "../../../src/core/plan/plan.ts";
import type { Call } from "../../../src/core/task/engine.ts";
import type { Act } from "./lab.ts";

/** A plan, and the behaviour of all its tasks: both follow from the same numbers. */
export type World = Readonly<{ plan: Body; seed: number; slots: number; choices: readonly number[] }>;

export type Flavour = Readonly<{
  /** False: all nodes are needed to the end, so that nothing depends on speed. */ races?: boolean;
  delegation?: boolean;
}>;

/** Generates random worlds: a plan, and the behaviour of its tasks. */
export function worlds({ races = true }: Flavour = {}): fc.Arbitrary<World> {
  return fc.record({
    plan: races ? plans(true) : plans(false).map(allWanted),
    seed: fc.nat(),
    slots: fc.integer({ min: 1, max: 4 }),
    choices: fc.array(fc.nat(50), { minLength: 1, maxLength: 30 }),
  });
}

const kinds = (races: boolean): fc.Arbitrary<"task" | "settled" | "first" | "gate" | "loop"> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant("task" as const) },
    { weight: 1, arbitrary: fc.constant("settled" as const) },
    ...(races ? [{ weight: 2, arbitrary: fc.constant("first" as const) }] : []),
    { weight: 1, arbitrary: fc.constant("gate" as const) },
    { weight: 1, arbitrary: fc.constant("loop" as const) },
  );

function plans(races: boolean): fc.Arbitrary<Body> {
  const spec = fc.record({
    kind: kinds(races),
    needs: fc.array(fc.nat(20), { maxLength: 3 }),
    count: fc.integer({ min: 1, max: 3 }),
    attempts: fc.integer({ min: 1, max: 3 }),
    refers: fc.boolean(),
    judge: fc.constantFrom("task" as const, "gate" as const),
    exhausted: fc.constantFrom("accept" as const, "fail" as const),
  });
  return fc
    .tuple(fc.array(spec, { minLength: 1, maxLength: 8 }), kinds(races))
    .map(([specs, last]) => planOf([...specs, { ...specs[0]!, kind: last, needs: [] }]));
}

/** The same plan with an output that waits for every node. */
function allWanted({ nodes }: Body): Body {
  return {
    nodes: { ...nodes, everything: { kind: "join", needs: Object.keys(nodes), pick: "settled" } },
    output: "everything",
  };
}

type Spec = Readonly<{
  kind: "task" | "settled" | "first" | "gate" | "loop";
  needs: readonly number[];
  count: number;
  attempts: number;
  refers: boolean;
  judge: "task" | "gate";
  exhausted: "accept" | "fail";
}>;

/** The last node is the output, and needs all nodes that no other node needs. */
function planOf(specs: readonly Spec[]): Body {
  const nodes: Record<string, Node> = {};
  const unused = new Set<string>();
  for (const [index, spec] of specs.entries()) {
    const isLast = index === specs.length - 1;
    const chosen = index === 0 ? [] : spec.needs.map((need) => `n${need % index}`);
    const needs = [...new Set([...chosen, ...(isLast ? unused : [])])];
    for (const need of needs) unused.delete(need);
    nodes[`n${index}`] = nodeOf(spec, needs);
    unused.add(`n${index}`);
  }
  return { nodes, output: `n${specs.length - 1}` };
}

function nodeOf({ kind, count, attempts, refers, judge, exhausted }: Spec, needs: readonly string[]): Node {
  const retry = attempts > 1 ? { retry: { maxAttempts: attempts, backoffMs: 10 } } : {};
  const first = needs[0];
  const said =
    refers && first !== undefined
      ? { prompt: `go on from {${first}}`, refs: { [first]: first } }
      : { prompt: "go", refs: {} };
  if (needs.length > 0 && (kind === "settled" || kind === "first")) {
    return { kind: "join", needs, pick: kind, ...(kind === "first" && { count: Math.min(count, needs.length) }) };
  }
  if (kind === "gate") return { kind: "gate", needs, question: said.prompt, refs: said.refs };
  if (kind !== "loop") return { kind: "task", needs, task: { ...said, ...retry } };
  const decide: Node =
    judge === "gate"
      ? { kind: "gate", needs: ["work"], question: "good?", refs: {} }
      : { kind: "task", needs: ["work"], task: { prompt: "judge {work}", refs: { work: "work" } } };
  const work: Node = { kind: "task", task: { ...said, ...retry, revise: "again: {task} {output} {feedback}" } };
  return {
    kind: "loop",
    needs,
    body: { nodes: { work, decide }, output: "work" },
    until: "decide",
    max: count,
    exhausted,
  };
}

/** The same arguments always give the same number, in any process. */
export function roll(seed: number, ...parts: readonly (string | number)[]): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (const char of parts.join("|")) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** The behaviour of a task in a world. */
export function actOf({ seed }: World, { delegation = false }: Flavour = {}): (call: Call) => Act {
  return ({ path, attempt, depth }) => {
    const dice = (what: string, sides: number): number => roll(seed, path, attempt, what) % sides;
    const fate = dice("fate", 10);
    const verdict = path.endsWith("/decide")
      ? dice("verdict", 2) === 0
        ? "APPROVED"
        : "try harder\nREVISION_NEEDED"
      : `${path}#${attempt}`;
    const helpers = delegation ? Math.max(0, dice("helpers", 4) - 1 - depth) : 0;
    const help = Array.from({ length: helpers }, (_, n) => helpersOf(seed, `${path}#${attempt}`, n));
    return {
      moments: dice("moments", 3),
      slowToStop: dice("slow", 3) === 0,
      delegates: dice("together", 2) === 0 ? help : [help],
      ends: fate < 6 ? { status: "ok", output: verdict } : fate < 9 ? failed("CRASHED", `${path} failed`) : "throws",
    };
  };
}

/** A small plan to delegate. */
function helpersOf(seed: number, who: string, n: number): Plan {
  const size = 1 + (roll(seed, who, n, "size") % 2);
  const nodes: Record<string, Node> = {};
  for (let index = 0; index < size; index += 1)
    nodes[`h${index}`] = { kind: "task", task: { prompt: `help ${who} ${n}`, refs: {} } };
  return { nodes: { ...nodes, all: { kind: "join", needs: Object.keys(nodes), pick: "settled" } }, output: "all" };
}

/** The answers of people to gates. */
export function answerOf({ seed }: World): (path: string) => Answer {
  return (path) => {
    const fate = roll(seed, path, "answer") % 4;
    return fate < 2 ? { approve: true } : { approve: false, ...(fate === 2 && { text: `not yet, says ${path}` }) };
  };
}
