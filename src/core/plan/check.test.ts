import { describe, expect, test } from "vitest";
import { growth } from "../../../test/support/growth.ts";
import { isCrewError } from "../schema/error.ts";
import { checkAgents, checkPlan, MAX_LOOP_DEPTH, parsePlan, suggestion } from "./check.ts";

const task = (prompt = "go", more: object = {}): object => ({ kind: "task", task: { prompt }, ...more });
const loop = (nodes: object, more: object = {}): object => ({
  kind: "loop",
  body: { nodes, output: "w" },
  until: "w",
  max: 1,
  ...more,
});
const nested = (depth: number): object => (depth === 0 ? task() : loop({ w: nested(depth - 1) }));

/** The code, the message and the hint with which a value is refused. */
function refusal(value: unknown): readonly [string, string, string] | undefined {
  try {
    parsePlan(value);
    return undefined;
  } catch (error) {
    if (!isCrewError(error)) throw error;
    return [error.code, error.message, error.hint];
  }
}

describe("a plan is refused with the node, the problem and the fix", () => {
  test.each<[string, unknown, readonly [string, string, string]]>([
    ["nothing", undefined, ["PLAN_INVALID", "The plan is missing.", "Give an object."]],
    ["not an object", [1], ["PLAN_INVALID", "The plan has to be an object, not a list.", "Give an object."]],
    [
      "no nodes",
      { nodes: {}, output: "a" },
      ["PLAN_EMPTY", "The plan has no nodes.", "Add at least one task under `nodes`."],
    ],
    [
      "an unknown key",
      { nodes: { a: task() }, output: "a", ouput: 1 },
      ["PLAN_INVALID", 'The plan has an unknown key "ouput".', 'Did you mean "output"?'],
    ],
    [
      "an unknown key of a task",
      { nodes: { a: { kind: "task", task: { prompt: "x", promt: "y" } } }, output: "a" },
      ["PLAN_INVALID", '"nodes.a.task" of the plan has an unknown key "promt".', 'Did you mean "prompt"?'],
    ],
    [
      "no output",
      { nodes: { a: task() } },
      ["PLAN_INVALID", '"output" of the plan is missing.', "Expected here: the node whose output is the result."],
    ],
    [
      "an output that is not a node",
      { nodes: { scout: task() }, output: "scuot" },
      ["PLAN_NO_OUTPUT", 'The plan\'s output "scuot" is not one of its nodes.', 'Did you mean "scout"?'],
    ],
    [
      "an unknown dependency",
      { nodes: { a: task("go", { needs: ["scout"] }) }, output: "a" },
      ["PLAN_UNKNOWN_NEED", 'Node "a" needs "scout", which is not a node.', "Known nodes: a."],
    ],
    [
      "an unknown reference",
      { nodes: { a: task("use {scout}") }, output: "a" },
      [
        "PLAN_UNKNOWN_REFERENCE",
        'Node "a" refers to {scout}, which is not a node.',
        "Known nodes: a. To keep the braces as text, list the real references under `refs`.",
      ],
    ],
    [
      "a dependency on itself",
      { nodes: { a: task("go", { needs: ["a"] }) }, output: "a" },
      ["PLAN_SELF_DEPENDENCY", 'Node "a" needs itself.', 'Remove "a" from its own needs and references.'],
    ],
    [
      "a reference to itself",
      { nodes: { a: task("{a}") }, output: "a" },
      ["PLAN_SELF_DEPENDENCY", 'Node "a" needs itself.', 'Remove "a" from its own needs and references.'],
    ],
    [
      "a cycle, as a path",
      {
        nodes: {
          a: task("go", { needs: ["c"] }),
          b: task("{a}"),
          c: task("go", { needs: ["b"] }),
          d: task("go", { needs: ["c"] }),
        },
        output: "d",
      },
      ["PLAN_CYCLE", "The plan has a cycle: a -> c -> b -> a.", 'Remove one of these needs, for example "c" from "a".'],
    ],
    [
      "a node that is not used",
      { nodes: { a: task(), b: task() }, output: "a" },
      [
        "PLAN_UNUSED_NODE",
        'Nothing uses node "b": the output "a" does not depend on it.',
        'Add "b" to the needs of "a", or remove it.',
      ],
    ],
    [
      "an id with a slash",
      { nodes: { "a/b": task() }, output: "a" },
      ["PLAN_INVALID", '"nodes" of the plan has the key "a/b", which is not allowed.', expect.any(String) as never],
    ],
    [
      "an id that cannot be a key of an object",
      JSON.parse('{"nodes":{"__proto__":{"kind":"task","task":{"prompt":"x"}}},"output":"__proto__"}'),
      [expect.any(String) as never, expect.any(String) as never, expect.any(String) as never],
    ],
    [
      "an id that is reserved for a later round",
      { nodes: { a: loop({ w: task() }), "a.2": task("{a}") }, output: "a.2" },
      [
        "PLAN_DUPLICATE_ID",
        'The name of node "a.2" is reserved for a later round of another node (NAME.NUMBER).',
        "Give the node a name that does not end in a dot and a number.",
      ],
    ],
    [
      "more successes than nodes",
      { nodes: { a: task(), j: { kind: "join", needs: ["a"], pick: "first", count: 2 } }, output: "j" },
      [
        "PLAN_INVALID",
        'Node "j" requires 2 successful nodes but depends on only 1.',
        "Lower `count` or add nodes to its needs.",
      ],
    ],
    [
      "a join of no nodes",
      { nodes: { j: { kind: "join", needs: [] } }, output: "j" },
      ["PLAN_INVALID", expect.stringContaining('"nodes.j.needs"') as never, expect.any(String) as never],
    ],
    [
      "a loop without a node that decides",
      { nodes: { l: loop({ w: task() }, { until: "judge" }) }, output: "l" },
      ["PLAN_NO_OUTPUT", 'The plan\'s `until` "judge" is not one of its nodes.', "Known nodes: w."],
    ],
    [
      "a join that gathers from outside of its loop",
      { nodes: { a: task(), l: loop({ j: { kind: "join", needs: ["a"] }, w: task("{j}") }) }, output: "l" },
      [
        "PLAN_UNKNOWN_NEED",
        'Node "j" depends on "a", which is outside of its loop.',
        "Refer to {a} in a task of the loop instead.",
      ],
    ],
    [
      "a body that refers to its own loop",
      { nodes: { l: loop({ w: task("{l}") }) }, output: "l" },
      ["PLAN_SELF_DEPENDENCY", 'Node "l" needs itself.', 'Remove "l" from its own needs and references.'],
    ],
    [
      "loops that are nested too deeply",
      { nodes: { w: nested(MAX_LOOP_DEPTH + 1) }, output: "w" },
      [
        "PLAN_TOO_DEEP",
        "Loops are nested more than 8 deep.",
        "Flatten the plan: one loop inside another is usually enough.",
      ],
    ],
    [
      "an unknown kind",
      { nodes: { a: { kind: "tsk", task: { prompt: "x" } } }, output: "a" },
      ["PLAN_INVALID", expect.stringContaining('"nodes.a') as never, expect.any(String) as never],
    ],
  ])("%s", (_what, value, wanted) => {
    expect(refusal(value)).toEqual(wanted);
  });
});

describe("a valid plan is accepted", () => {
  test.each<[string, unknown]>([
    ["one task", { nodes: { a: task() }, output: "a" }],
    [
      "braces that are not references, when the references are listed",
      { nodes: { a: { kind: "task", task: { prompt: "{x} {y}", refs: {} } } }, output: "a" },
    ],
    ["loops of the maximum depth", { nodes: { w: nested(MAX_LOOP_DEPTH) }, output: "w" }],
    ["a body that refers to nodes around it", { nodes: { a: task(), l: loop({ w: task("{a}") }) }, output: "l" }],
    [
      "ids that every object inherits",
      { nodes: { constructor: task(), toString: task("{constructor}") }, output: "toString" },
    ],
  ])("%s", (_what, value) => {
    expect(refusal(value)).toBeUndefined();
  });

  test("checking 20,000 nodes with one shared dependency takes linear time", () => {
    const checked = (count: number) => {
      const nodes: Record<string, object> = { root: task() };
      for (let n = 0; n < count; n += 1) nodes[`n${n}`] = task("go", { needs: ["root"] });
      const end = { kind: "join", needs: Object.keys(nodes), pick: "settled" };
      return (): void => checkPlan({ nodes: { ...nodes, end }, output: "end" } as never);
    };
    expect(growth({ small: checked(100), large: checked(20_000), pieces: 200 })).toBeLessThan(4);
  });
});

test("an unknown agent is reported with its node, also inside a loop", () => {
  const plan = { nodes: { l: loop({ w: task("go", { task: { prompt: "x", agent: "scuot" } }) }) }, output: "l" };
  const check = (): void =>
    checkAgents(
      plan as never,
      (name) => name === "scout",
      () => ["scout"],
    );
  expect(check).toThrow('Unknown agent "scuot", named by node "w".');
});

test.each([
  ["scuot", ["scout", "plan"], 'Did you mean "scout"?'],
  ["sсout", ["scout", "plan"], 'Did you mean "scout"? The given name has letters of another script.'],
  ["zzz", ["scout", "plan"], "Agents: scout, plan."],
  ["zzz", [], "Agents: none."],
  [
    "zzz",
    Array.from({ length: 14 }, (_, n) => `a${n}`),
    "Agents: a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, and 2 more.",
  ],
])("the suggestion for the unknown name %s among %j: %s", (word, known, wanted) => {
  expect(suggestion(word, known, "Agents")).toBe(wanted);
});
