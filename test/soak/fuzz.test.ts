import { randomInt } from "node:crypto";
import { describe, expect, test } from "vitest";
import { addressesAreJudgedAlike } from "../fuzz/addresses.ts";
import { coveredCommands, rulesOnlyRead } from "../fuzz/allow-rules.ts";
import { readersOnlyRead, readOnlyCommands } from "../fuzz/commands.ts";
import { filesAreRead, repairsOnlyNarrow, settingsAreRead } from "../fuzz/files.ts";
import { pathsStayInside } from "../fuzz/paths.ts";
import { noNamesAreLeft } from "../fuzz/protected-names.ts";
import {
  inputsAreJudged,
  journalsAreRead,
  secretsAreGone,
  splitsDoNotMatter,
  terminalsAreSafe,
} from "../fuzz/words.ts";
import { probeSandbox } from "../../src/runtime/commands/probe-sandbox.ts";
import { needs } from "../needs.ts";
import { graphsHold, nonsenseIsRefused } from "../simulation/graphs.ts";
import { poolHolds } from "../simulation/pool.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** Another chance each time, which is said; `SUBCREW_SEED` takes one again. */
const seed = Number(process.env["SUBCREW_SEED"] ?? randomInt(1_000_000_000));
process.stdout.write(`SUBCREW_SEED=${seed} npm run test:soak -- test/soak/fuzz.test.ts\n`);
const tries = (numRuns: number) => ({ numRuns, seed });

describe("FUZZ-01: agent files", () => {
  test("bent in 200,000 ways are read or refused, none of them slowly", () => {
    let slowest = 0;
    filesAreRead(tries(200_000), (ms) => (slowest = ms));
    process.stdout.write(`the slowest file took ${slowest.toFixed(1)} ms\n`);
    expect(slowest).toBeLessThan(1_000); // 100 ms on a machine that does nothing else
  });
  test("that have to be repaired never have more tools", () => repairsOnlyNarrow(tries(50_000)));
  test("and settings are read or refused", () => settingsAreRead(tries(20_000)));
});

test("FUZZ-02: 30,000 paths among 1,000 trees of links never lead out of the workspace", async () => {
  const bwrap = await needs("bwrap");
  const kernel = bwrap.missing === undefined ? { bwrap: bwrap.path } : {};
  const opened = await pathsStayInside({ folder: tempFolder(), ...kernel }, tries(1_000));
  process.stdout.write(`${opened} paths were opened\n`);
});

test("FUZZ-03: addresses are judged alike in every spelling", () => addressesAreJudgedAlike(tries(100_000)));

test("FUZZ-04: of 100,000 commands none that is judged read-only changes, reaches or starts anything", async (ctx) => {
  const [bwrap, strace] = [await needs("bwrap"), await needs("strace")];
  if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
  if (strace.missing !== undefined) return ctx.skip(strace.missing);
  const commands = readOnlyCommands(tries(100_000));
  process.stdout.write(`${commands.length} commands are judged read-only\n`);
  for (let from = 0; from < commands.length; from += 20)
    readersOnlyRead(commands.slice(from, from + 20), { folder: tempFolder(), bwrap: bwrap.path, strace: strace.path });
});

test("FUZZ-09: of 60,000 commands none that a rule ending in * covers changes a file", async (ctx) => {
  const bwrap = await needs("bwrap");
  if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
  const covered = coveredCommands(tries(60_000));
  process.stdout.write(`${covered.length} commands are covered\n`);
  for (let from = 0; from < covered.length; from += 100)
    rulesOnlyRead(covered.slice(from, from + 100), { folder: tempFolder, bwrap: bwrap.path });
});

describe("FUZZ-05: readers", () => {
  test("take any journal", () => journalsAreRead(tries(100_000)));
  test("hear the same however the wire cuts", () => splitsDoNotMatter(tries(100_000)));
  test("of plans, inputs, rules and templates", () => inputsAreJudged(tries(100_000)));
});

test("FUZZ-06: no text drives a terminal", () => terminalsAreSafe(tries(300_000)));

test("FUZZ-07: no secret survives", () => secretsAreGone(tries(100_000)));

describe("SIM-04, SIM-05", () => {
  test("20,000 orders of a pool of workers", () => poolHolds(tries(20_000)));
  test("5,000 graphs with failures", () => graphsHold(tries(5_000)));
  test("5,000 graphs that make no sense", () => nonsenseIsRefused(tries(5_000)));
});

test("FUZZ-08: 300 pairs of random scripts, interrupted at random, leave no protected name", async (ctx) => {
  const bwrap = await needs("bwrap");
  if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
  const refused = await noNamesAreLeft({ folder: tempFolder(), sandbox: await probeSandbox() }, tries(300));
  process.stdout.write(`${refused} names were refused\n`);
});
