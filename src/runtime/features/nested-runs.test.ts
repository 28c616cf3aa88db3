import { expect, test, vi } from "vitest";
import { createBudget } from "../../core/run/budget.ts";
import type { BelowSpent } from "../../core/run/run-below.ts";
import { borrowBudget } from "./parent-run.ts";
import { lendBudget } from "./nested-runs.ts";

const never = new AbortController().signal;

/** A budget, and nested runs that repeat a request until they have an answer, as the commands of runs do. */
function lending(maxTokens: number) {
  const owned = new Set(["a", "b"]);
  const died: BelowSpent[] = [];
  const revoked: string[] = [];
  const revokes = new Map<string, (id: string) => void>();
  const budget = createBudget({ maxTokens });
  const lent = lendBudget(
    budget,
    {
      isOwned: async (run) => owned.has(run),
      revoke: (run, id) => {
        revoked.push(run);
        revokes.get(run)?.(id);
      },
    },
    (_path, spent) => died.push(spent),
  );
  const below = (name: string) => {
    const borrowed = borrowBudget(createBudget({}), {
      limits: { maxTokens },
      ask: async (request, signal) => {
        for (;;) {
          const reply = await lent.answer({ path: "lead", below: name }, request);
          if (reply || signal.aborted) return reply;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
    });
    revokes.set(name, borrowed.revoke);
    return borrowed.budget;
  };
  return { budget, lent, below, owned, died, revoked };
}

test("a reservation waits for that of another run, and a run that stops waiting leaves nothing reserved", async () => {
  const { below, budget } = lending(1_000);
  const [a, b] = [below("a"), below("b")];
  const held = await a.reserve({ tokens: 600 }, () => {}, never);
  const gives = new AbortController();
  const waiting = b.reserve({ tokens: 600 }, () => {}, gives.signal);
  gives.abort();
  const left = await waiting;
  if ("refused" in held || "refused" in left) throw new Error("refused");
  left.release();
  held.settle({ tokens: 100 });
  await vi.waitFor(async () => expect(await b.room()).toBe(900));
  expect(budget.spent().tokens).toBe(100);
  expect(await b.reserve({ tokens: 900 }, () => {}, never)).toMatchObject({ limit: { kind: "tokens", value: 1_000 } });
});

test("reservations of a dead process count with their estimate, and other runs continue", async () => {
  const { below, budget, owned, died } = lending(1_000);
  const a = below("a");
  const first = await a.reserve({ tokens: 200 }, () => {}, never);
  if ("settle" in first) first.settle({ tokens: 50 });
  await a.reserve({ tokens: 800, cut: { tokens: 70 } }, () => {}, never);
  owned.delete("a");
  const b = await below("b").reserve({ tokens: 600 }, () => {}, never);
  expect(b).toHaveProperty("settle");
  expect(budget.spent().tokens).toBe(120);
  expect(died).toMatchObject([{ run: "a", usage: { estimated: 120 } }]);
});

test("a call of the parent run that costs more than reserved revokes the newest reservation of a nested run", async () => {
  const { below, budget, revoked } = lending(1_000);
  const own = await budget.reserve({ tokens: 100 }, () => {}, never);
  let stopped = false;
  await below("a").reserve(
    { tokens: 800 },
    () => {
      stopped = true;
    },
    never,
  );
  if ("settle" in own) own.settle({ tokens: 900 });
  expect([revoked, stopped]).toEqual([["a"], true]);
});

test("at the end of a nested run only the unsettled part of its usage is counted", async () => {
  const { below, budget, lent } = lending(1_000);
  const held = await below("a").reserve({ tokens: 200 }, () => {}, never);
  if ("settle" in held) held.settle({ tokens: 150 });
  await vi.waitFor(() => expect(budget.spent().tokens).toBe(150));
  lent.ended("a", { tokens: 180, usd: 0, maxTurns: 1, maxToolCalls: 0, maxSpawns: 1 });
  expect(budget.spent().tokens).toBe(180);
});
