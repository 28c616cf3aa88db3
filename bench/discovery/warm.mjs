// @ts-check
import { interleaved } from "../executor/sample.mjs";
import { AGAIN, compared } from "./compared.mjs";
import { againWithCache, contenders } from "./contenders.mjs";

const ROUNDS = 11;
const WARM_UP = 3;

/**
 * Measures all compared programs in one process after a warm-up.
 *
 * @param {import("./corpus.mjs").Corpus} corpus
 */
export async function warm(corpus) {
  const again = await againWithCache();
  await again(corpus);
  const works = [{ name: AGAIN, work: again }];
  for (const [name, load] of Object.entries(contenders)) works.push({ name, work: await load() });
  const taken = await interleaved(
    works.map(({ name, work }) => ({ name, run: () => work(corpus) })),
    { rounds: ROUNDS, warmUp: WARM_UP },
  );
  const how = `median of ${ROUNDS} after ${WARM_UP} warm-up rounds, interleaved`;
  return [compared(taken, { title: "One process, warmed up", how })];
}
