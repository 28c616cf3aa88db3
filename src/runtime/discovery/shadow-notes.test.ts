import { expect, test } from "vitest";
import type { Discovery } from "./discover.ts";
import { shadowNotes } from "./shadow-notes.ts";

const found = (kind: "bundled" | "project", file?: string) =>
  ({ name: "reviewer", file, agent: { name: "reviewer", source: { kind } } }) as unknown as Discovery["agents"][number];
const plan = (agent: string) =>
  ({ nodes: { a: { kind: "task", task: { agent, prompt: "x", refs: {} } } }, output: "a" }) as const;

test("a note names the agent that is used in place of an untrusted agent of the project, with the reason", () => {
  const seen = (distrust: "project" | "changed") => ({
    shadowed: [],
    unlisted: [],
    agents: [found("bundled")],
    untrusted: [{ ...found("project", "r.md"), distrust }],
  });
  expect(shadowNotes(plan("reviewer"), seen("project"))).toEqual([
    'The agent "reviewer" of this project (r.md) is not trusted, so the bundled agent is used. Review it with `subcrew trust`.',
  ]);
  expect(shadowNotes(plan("reviewer"), seen("changed"))[0]).toContain("changed since you trusted it");
  expect(shadowNotes(plan("explore"), seen("project"))).toEqual([]);
});
