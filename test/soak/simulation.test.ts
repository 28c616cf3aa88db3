import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { killWithBudget } from "../simulation/budgets.ts";
import { defects, type Defect, play, simulatorIn } from "../simulation/planted.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createProgress, done, partOfTheTime } from "./budget.ts";

/** Other seeds each time; `SUBCREW_SEED` sets the first one. */
const first = Number(process.env["SUBCREW_SEED"] ?? randomInt(1_000_000_000));

/** How many programs run at once, and how many seeds each of them plays before it checks the time. */
const WIDTH = 2;
const SEEDS = 100;
const PLANTED_SEEDS = 2_000;

const end = { planted: partOfTheTime(1), seeds: partOfTheTime(2) };

async function sideBySide(act: () => Promise<boolean>): Promise<void> {
  const lane = async (): Promise<void> => {
    while (await act());
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
}

test("after a hundred kills at random points, the budget counts exactly the recorded turns", async () => {
  const { kills, reached, wrong } = await killWithBudget(100, first);
  done(`${kills} kills, ${reached} budgets used up`);
  expect(wrong).toEqual([]);
});

test("SIM-03: of twenty planted defects at least nineteen are found within 2,000 seeds", async () => {
  const until = end.planted();
  const missed: string[] = [];
  const open: { defect: Defect; program: Promise<string>; played: number }[] = defects.map((defect) => ({
    defect,
    program: simulatorIn(tempFolder(), defect),
    played: 0,
  }));
  let found = 0;
  // In turns, so that the many defects that are found soon do not wait for the few that take long.
  await sideBySide(async () => {
    const next = performance.now() < until ? open.shift() : undefined;
    if (next === undefined) return false;
    const { seed, broken } = await play(await next.program, { first: first + next.played, count: SEEDS });
    next.played += SEEDS;
    if (broken) {
      found += 1;
      process.stdout.write(`soak: ${next.defect.name}: found by seed ${seed}: ${broken[0]}\n`);
    } else if (next.played < PLANTED_SEEDS) open.push(next);
    else missed.push(next.defect.name);
    return true;
  });
  const names = (list: readonly string[]): string => list.map((name) => `"${name}"`).join(", ");
  const rest = open.map(({ defect }) => defect.name);
  done(
    `${found} of ${defects.length} planted defects found` +
      (missed.length > 0 ? `; not ${names(missed)}` : "") +
      (rest.length > 0 ? `; no time for all 2,000 seeds of ${names(rest)}` : ""),
  );
  expect(missed.length).toBeLessThanOrEqual(1);
});

test("SIM-02: in every simulation that there is time for, our promises hold", async () => {
  const until = end.seeds();
  const program = await simulatorIn(tempFolder());
  const progress = createProgress();
  const wrong: string[] = [];
  let next = first;
  let played = 0;
  await sideBySide(async () => {
    const from = next;
    next += SEEDS;
    const { seed, broken } = await play(program, { first: from, count: SEEDS });
    played += SEEDS;
    progress(() => `${played} simulations`);
    if (broken) wrong.push(`SUBCREW_SEED=${seed} npm test -- test/simulation/seeds.test.ts: ${broken.join("; ")}`);
    return performance.now() < until;
  });
  done(`${played} simulations, seeds ${first} to ${next - 1}; SUBCREW_SEED=${next} continues`);
  expect(wrong).toEqual([]);
});
