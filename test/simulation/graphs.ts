import fc from "fast-check";
import { expect } from "vitest";
import { checkPlan } from "../../src/core/plan/check.ts";
import type { Body, Node } from "../../src/core/plan/plan.ts";
import { isCrewError } from "../../src/core/schema/error.ts";
import { compile } from "../../src/modes/compile.ts";
import { bad, observe, ok, task } from "../runtime/execute/lab.ts";
import type { Tries } from "./pool.ts";

/**
 * SIM-05: graphs with failures: no node starts early, dependents of a failure are skipped, and none is left waiting.
 */
export async function graphsHold(tries: Tries): Promise<void> {
  await fc.assert(
    fc.asyncProperty(graphs, async ({ needs, fails, slots, choices }) => {
      const plan = planOf(needs);
      const seen = await observe({
        plan,
        slots,
        choices,
        act: ({ path }) => (fails.includes(Number(path.slice(1))) ? bad() : ok()),
      });
      const statusOf = (index: number): string => seen.executed.outcomeOf(`n${index}`)?.status ?? "open";
      const good = new Set<string>();
      for (const event of seen.journal) {
        if (event.type === "node.ended" && event.outcome.status === "ok") good.add(event.path);
        if (event.type !== "node.started") continue;
        const early = needs[Number(event.path.slice(1))]?.filter((need) => !good.has(`n${need}`)) ?? [];
        expect(early, `${event.path} started before ${early.join(", ")}`).toEqual([]);
      }
      for (const [index, of] of needs.entries()) {
        const held = of.some((need) => statusOf(need) !== "ok");
        expect(statusOf(index), `n${index}`).toBe(held ? "skipped" : fails.includes(index) ? "failed" : "ok");
      }
    }),
    tries,
  );
}

/** SIM-05: invalid graphs are refused before anything starts. */
export function nonsenseIsRefused(tries: Tries): void {
  fc.assert(
    fc.property(graphs, fc.nat(), fc.constantFrom("itself", "unknown", "cycle"), ({ needs }, at, how) => {
      const { nodes, output } = planOf(needs);
      const ids = needs.map((_, index) => `n${index}`);
      const id = ids[at % ids.length]!;
      const { needs: old = [] } = nodes[id]!;
      const wrong = { itself: [id], unknown: ["nobody"], cycle: ["behind"] }[how];
      const broken: Body = {
        nodes: {
          ...nodes,
          [id]: task("go", {}, [...old, ...wrong]),
          ...(how === "cycle" && { behind: task("go", {}, [id]) }),
        },
        output,
      };
      expect(codeOf(() => checkPlan(broken))).toMatch(/^PLAN_/);
      const twice = { mode: "team", tasks: [...ids, id].map((one) => ({ id: one, task: "go" })) } as const;
      expect(codeOf(() => compile(twice))).not.toBe("");
    }),
    tries,
  );
}

const graphs = fc.record({
  needs: fc
    .array(fc.array(fc.nat(40), { maxLength: 4 }), { minLength: 1, maxLength: 30 })
    .map((all) => all.map((needs, index) => (index === 0 ? [] : [...new Set(needs.map((need) => need % index))]))),
  fails: fc.array(fc.nat(30), { maxLength: 6 }),
  slots: fc.integer({ min: 1, max: 8 }),
  choices: fc.array(fc.nat(50), { minLength: 1, maxLength: 30 }),
});

function planOf(needs: readonly (readonly number[])[]): Body {
  const nodes: Record<string, Node> = Object.fromEntries(
    needs.map((of, index) => [
      `n${index}`,
      task(
        "go",
        {},
        of.map((need) => `n${need}`),
      ),
    ]),
  );
  return { nodes: { ...nodes, all: { kind: "join", needs: Object.keys(nodes), pick: "settled" } }, output: "all" };
}

function codeOf(act: () => unknown): string {
  try {
    act();
    return "";
  } catch (error) {
    if (!isCrewError(error)) throw error;
    return error.code;
  }
}
