import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { killWithBudget } from "../simulation/budgets.ts";
import { defects, play, simulatorIn } from "../simulation/planted.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** Other seeds each time; `SUBCREW_SEED` says from where on. */
const first = Number(process.env["SUBCREW_SEED"] ?? randomInt(1_000_000_000));

test("SIM-02: in 10,000 simulations what we promise holds", async () => {
  process.stdout.write(`seeds ${first} to ${first + 9_999}\n`);
  const program = await simulatorIn(tempFolder());
  const halves = await Promise.all([0, 5_000].map((at) => play(program, { first: first + at, count: 5_000 })));
  for (const { seed, broken = [] } of halves)
    expect(broken, `SUBCREW_SEED=${seed} npm test -- test/simulation/seeds.test.ts`).toEqual([]);
});

test("SIM-03: of twenty planted defects at least nineteen are found within 2,000 seeds", async () => {
  const found: string[] = [];
  for (const defect of defects) {
    const { seed, played, broken } = await play(await simulatorIn(tempFolder(), defect), { first, count: 2_000 });
    if (broken) found.push(defect.name);
    process.stdout.write(
      `${defect.name}: ${broken ? `found by seed ${seed}, the ${played}.: ${broken[0]}` : "not found"}\n`,
    );
  }
  expect(found.length).toBeGreaterThanOrEqual(defects.length - 1);
});

test("a budget is exact for recorded turns through a hundred kills at random points", async () => {
  const { kills, reached, wrong } = await killWithBudget(100, first);
  process.stdout.write(`${kills} kills, ${reached} budgets used up\n`);
  expect(wrong).toEqual([]);
});
