import { budgetSpent } from "../../src/core/run/budget-spent.ts";
import { createDice } from "./dice.ts";
import { noFaults } from "./faults.ts";
import { brokenRules } from "./rules.ts";
import { simulate } from "./simulate.ts";

/** The results of runs with a budget of turns whose processes were killed at random points. */
export type Killed = Readonly<{ kills: number; reached: number; wrong: readonly string[] }>;

/**
 * Plays runs with a limit of turns, each killed up to three times, until this many kills have happened. The next
 * process counts exactly the recorded turns, never more than allowed, and no turn is refused before the limit is
 * reached.
 */
export async function killWithBudget(kills: number, first = 1): Promise<Killed> {
  let done = 0;
  let reached = 0;
  const wrong: string[] = [];
  for (let seed = first; done < kills; seed += 1) {
    const dice = createDice(seed);
    const maxTurns = 2 + dice.below(5);
    const crashes = Array.from({ length: 3 }, () => ({ step: 20 + dice.below(120), power: dice.oneIn(2) }));
    const story = await simulate(seed, { faults: { ...noFaults, budget: { maxTurns }, crashes } });
    done += story.lives.filter(({ end }) => end === "crashed").length;
    wrong.push(...brokenRules(story).map((text) => `seed ${seed}: ${text}`));
    const closing = new Set<string>();
    let turns = 0;
    let begun = 0;
    let over = false;
    for (const event of story.journal) {
      if (event.type === "node.started") closing.delete(event.path);
      if (event.type === "limit.reached") closing.add(event.path);
      over ||= event.type === "limit.reached" && event.reached?.kind === "turns" && event.reached.run === true;
      if (closing.has(event.path)) continue;
      if (event.type === "turn.started") begun += 1;
      if (event.type === "turn.ended") turns += 1;
    }
    if (over) reached += 1;
    if (over && begun < maxTurns) wrong.push(`seed ${seed}: refused after ${begun} turns of ${maxTurns}`);
    const counted = budgetSpent(story.journal).maxTurns;
    if (counted !== turns) wrong.push(`seed ${seed}: ${turns} turns are recorded and ${counted} counted`);
  }
  return { kills: done, reached, wrong };
}
