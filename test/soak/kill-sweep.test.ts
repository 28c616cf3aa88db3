import { expect, test } from "vitest";
import { modes, sweepAll } from "../processes/runtime/resume/kill-sweep.ts";
import { createProgress, done, partOfTheTime } from "./budget.ts";

/**
 * The position in the order of all stops where this begins; a round that had no time for all of them prints where the
 * next one continues.
 */
const from = Number(process.env["SUBCREW_SEED"] ?? 0);
const end = partOfTheTime();

test("in every mode a run that is killed, paused or cancelled at every point and resumed ends with the same result", async () => {
  const progress = createProgress();
  const swept = await sweepAll(from, end(), (now, all) => progress(() => `${now} of ${all} stops`));
  const rest = swept.done < swept.all ? `; SUBCREW_SEED=${from + swept.done} continues` : "";
  done(`${swept.done} of ${swept.all} stops, resumed ${JSON.stringify(swept.resumed)}${rest}`);
  expect(swept.wrong).toEqual([]);
  for (const mode of Object.keys(modes)) expect(swept.resumed[mode] ?? 0, mode).toBeGreaterThan(0);
});
