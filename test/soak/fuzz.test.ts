import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { addressesAreJudgedAlike } from "../fuzz/addresses.ts";
import { coveredCommands, coveredPairs, rulesOnlyRead } from "../fuzz/allow-rules.ts";
import { readersOnlyRead, readOnlyCommands } from "../fuzz/commands.ts";
import { bansAreKept, filesAreRead, repairsOnlyNarrow, restrictionsAreKept, settingsAreRead } from "../fuzz/files.ts";
import type { Tries } from "../fuzz/mutate.ts";
import { pathsStayInside } from "../fuzz/paths.ts";
import { noNamesAreLeft } from "../fuzz/protected-names.ts";
import {
  inputsAreJudged,
  journalsAreRead,
  keysAreGone,
  secretsAreGone,
  splitsDoNotMatter,
  terminalsAreSafe,
} from "../fuzz/words.ts";
import { probeSandbox } from "../../src/runtime/commands/probe-sandbox.ts";
import { needs } from "../needs.ts";
import { graphsHold, nonsenseIsRefused } from "../simulation/graphs.ts";
import { poolHolds } from "../simulation/pool.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createProgress, done, partOfTheTime } from "./budget.ts";

/** A random seed each time, which is printed; `SUBCREW_SEED` sets one. */
const seed = Number(process.env["SUBCREW_SEED"] ?? randomInt(1_000_000_000));
process.stdout.write(`SUBCREW_SEED=${seed} npm run test:soak -- fuzz\n`);

/** More than any machine can do in the time of a test. */
const MANY = 1_000_000_000;

/** Tries a property until this test's part of the time is over. */
function soaked(title: string, hold: (tries: Tries) => unknown, weight = 1): void {
  const end = partOfTheTime(weight);
  test(title, async () => {
    const ms = end() - performance.now();
    const told = await hold({ numRuns: MANY, seed, interruptAfterTimeLimit: Math.max(1_000, ms) });
    done(`${title}: ${Math.round(ms / 1_000)} s${typeof told === "string" ? `, ${told}` : ""}`);
  });
}

/** A soak test for commands, which are generated and run in batches. */
function soakedCommands(title: string, batch: (tries: Tries) => number, weight = 1): void {
  const end = partOfTheTime(weight);
  test(title, () => {
    const [until, progress] = [end(), createProgress()];
    let [count, at] = [0, 0];
    do {
      count += batch({ numRuns: 2_000, seed: seed + at++ });
      progress(() => `${count} commands`);
    } while (performance.now() < until);
    done(`${title}: ${count} commands, the next seed is ${seed + at}`);
  });
}

soaked("FUZZ-01: agent files bent in any way are read or refused, none of them slowly", (tries) => {
  let slowest = 0;
  filesAreRead(tries, (ms) => (slowest = ms));
  expect(slowest).toBeLessThan(1_000); // on an idle machine this takes about 100 ms
  return `the slowest file took ${slowest.toFixed(1)} ms`;
});
soaked("FUZZ-01: agent files that have to be repaired never have more tools", repairsOnlyNarrow);
soaked("FUZZ-01: agent files with stray lines keep what they forbid", bansAreKept);
soaked("FUZZ-01: agent files with stray lines anywhere get no tool that they deny or leave out", restrictionsAreKept);
soaked("FUZZ-01: settings are read or refused", settingsAreRead);

const [bwrap, strace] = [await needs("bwrap"), await needs("strace")];
soaked("FUZZ-02: no path among any links leads out of the workspace", async (tries) => {
  const kernel = bwrap.missing === undefined ? { bwrap: bwrap.path } : {};
  return `${await pathsStayInside({ folder: tempFolder(), ...kernel }, tries)} paths were opened`;
});
soaked("FUZZ-03: addresses are judged alike in every spelling", addressesAreJudgedAlike);
soaked("FUZZ-05: any journal is read, or called damaged", journalsAreRead);
soaked("FUZZ-05: readers hear the same however the wire cuts", splitsDoNotMatter);
soaked("FUZZ-05: plans, inputs, rules and templates are judged", inputsAreJudged);
soaked("FUZZ-06: no text drives a terminal", terminalsAreSafe);
soaked("FUZZ-07: no secret survives", secretsAreGone);
soaked("FUZZ-07: no private key survives", keysAreGone);
soaked("SIM-04: the orders of a pool of workers hold", poolHolds);
soaked("SIM-05: graphs with failures hold", graphsHold);
soaked("SIM-05: graphs that make no sense are refused", nonsenseIsRefused);

if (bwrap.missing !== undefined) test.skip(`FUZZ-04, FUZZ-08, FUZZ-09: ${bwrap.missing}`);
else {
  const { path } = bwrap;
  soakedCommands(
    "FUZZ-09: no command that a rule ending in * covers changes a file",
    (tries) => {
      const covered = coveredCommands(tries);
      rulesOnlyRead(covered, { folder: tempFolder, bwrap: path });
      return covered.length;
    },
    3,
  );
  test("FUZZ-09: a rule for any program covers no word that makes the program write", { timeout: 600_000 }, () => {
    rulesOnlyRead(coveredPairs("all"), { folder: tempFolder, bwrap: path });
  });
  soaked(
    "FUZZ-08: no pair of random scripts, interrupted at random, leaves a protected name",
    async (tries) => {
      const refused = await noNamesAreLeft({ folder: tempFolder(), sandbox: await probeSandbox() }, tries);
      return `${refused} names were refused`;
    },
    4,
  );
  if (strace.missing !== undefined) test.skip(`FUZZ-04: ${strace.missing}`);
  else
    soakedCommands(
      "FUZZ-04: no command that is judged read-only changes, reaches or starts anything",
      (tries) => {
        const commands = readOnlyCommands(tries);
        readersOnlyRead(commands, { folder: tempFolder(), bwrap: path, strace: strace.path });
        return commands.length;
      },
      3,
    );
}
