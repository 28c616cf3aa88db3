import { expect, test } from "vitest";
import type { Plan } from "../plan/plan.ts";
import { planMermaid, planTree } from "./plan-tree.ts";

const plan: Plan = {
  output: "all",
  nodes: {
    all: { kind: "join", needs: ["build", "ask"], pick: "settled" },
    build: {
      kind: "loop",
      until: "review",
      max: 3,
      exhausted: "accept",
      body: {
        output: "work",
        nodes: {
          review: { kind: "task", needs: ["work"], task: { agent: "reviewer", prompt: "Check {work}" } },
          work: { kind: "task", task: { agent: "worker", prompt: 'Say "hi"\nloudly' } },
        },
      },
    },
    ask: { kind: "gate", question: "Go on?" },
  },
};

test("the tree of a plan lists each node once, after the nodes that it needs", () => {
  expect(planTree(plan, { columns: 60, unicode: false })).toBe(`3 nodes, the result is that of "all"
|- build  repeats up to 3 times until "review" approves
|  |- work  worker: Say "hi" loudly
|  \`- review  reviewer (after work): Check {work}
|- ask  asks a person: Go on?
\`- all  waits for all (after build, ask)
`);
});

test("the flowchart of a plan escapes text that Mermaid would read as syntax", () => {
  const odd: Plan = { output: 'a"b', nodes: { 'a"b': { kind: "task", task: { agent: "x<y", prompt: "" } } } };
  expect(planMermaid(odd)).toBe('flowchart TD\n  n0["a#34;b: x#60;y"]\n');
  expect(planMermaid(plan).split("\n")).toContain('  subgraph n1["build: up to 3 rounds"]');
});
