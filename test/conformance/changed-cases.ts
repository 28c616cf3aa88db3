import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, type RunnerTestCase, test } from "vitest";
import { errorOf, loadTests } from "../support/loaded-tests.ts";
import { allCases, type ChangedCase, loadChanged, tryChanged } from "./harness.ts";

/** The minimum number of letters of a case's name that the title of its test shows: vitest cuts long names. */
const SHOWN = 30;

/** Unless `all` cases are wanted, the expectation of one in this many cases is changed. */
const ONE_OF = 4;

/** The maximum time for all changes of one file. */
const TIMEOUT_MS = 30 * 60_000;

type Which = "all" | Readonly<{ seed: number }>;
type Round = Readonly<{ changes: readonly ChangedCase[]; tests: readonly RunnerTestCase[] }>;

/**
 * Shows that the conformance cases can fail: changes expected values, one per case at a time, and runs the tests of the
 * changed cases, each of which must fail. Without a change the same tests must pass. A test file is loaded anew for
 * each change, and its imports only once.
 *
 * @param which every value of every case, or one value each of some cases, which the seed picks
 */
export function casesNoticeChanges(which: Which): void {
  const files = readdirSync(import.meta.dirname).filter((name) => /^(?!can-fail).*\.test\.ts$/.test(name));
  /** The change, and whether a test noticed it: where two files run the same cases, one of them must notice it. */
  const noticed = new Map<string, boolean>();
  const cases = new Set<string>();
  const checks: [file: string, check: () => Promise<void>][] = [];

  describe("the tests notice changed expectations, and only these, in", async () => {
    for (const file of files) {
      const { unchanged, rounds } = await roundsOf(file, which);
      if (rounds.length === 0) continue;
      checks.push([
        file,
        async () => {
          const before = noticed.size;
          const again = unchanged.tests.filter((one) => rounds.some(({ changes }) => isAbout(one, changes)));
          expect(await failuresOf(again)).toEqual([]);
          for (const round of rounds)
            for (const [line, seen] of await tryRound(round)) noticed.set(line, seen || noticed.get(line) === true);
          for (const { changes } of rounds) for (const changed of changes) cases.add(keyOf(changed));
          console.log(`${file}: ${noticed.size - before} expected values changed`);
        },
      ]);
    }
    test.each(checks)("%s", { timeout: TIMEOUT_MS }, async (_file, check) => check());
  });

  test("every changed expectation of a conformance case makes its test fail", () => {
    const missed = [...noticed].flatMap(([line, seen]) => (seen ? [] : [line]));
    console.log(`done: ${noticed.size} expected values changed, ${missed.length} not noticed`);
    expect(missed).toEqual([]);
    if (which === "all") expect([...cases].toSorted()).toEqual([...new Set(allCases().map(keyOf))].toSorted());
  });
}

const keyOf = ({ file, area, name }: Readonly<{ file: string; area: string; name: string }>): string =>
  `${file} ${area} "${name}"`;

/** Loads a test file without a change, and once per change. */
async function roundsOf(file: string, which: Which): Promise<Readonly<{ unchanged: Round; rounds: readonly Round[] }>> {
  const unchanged = await load(file, "unchanged", () => -1);
  const rounds: Round[] = [];
  for (let at = 0; which === "all" || at === 0; at += 1) {
    const pick = (count: number, about: string): number => {
      if (which === "all") return at;
      const number = hash(which.seed, about);
      return number % ONE_OF === 0 ? Math.floor(number / ONE_OF) % count : -1;
    };
    const round = await load(file, `change-${at}`, pick);
    if (round.changes.length === 0) break;
    rounds.push(round);
  }
  return { unchanged, rounds };
}

async function load(file: string, name: string, pick: (count: number, about: string) => number): Promise<Round> {
  return loadChanged(pick, () => loadTests(join(import.meta.dirname, file), name));
}

const isAbout = (one: RunnerTestCase, changes: readonly ChangedCase[]): boolean =>
  changes.some(({ name }) => one.name.includes(name.slice(0, SHOWN)));

/** Two areas of one file may share a name: then as many tests must fail as cases of that name were changed. */
async function tryRound({ changes, tests }: Round): Promise<Map<string, boolean>> {
  const result = new Map<string, boolean>();
  for (const shown of new Set(changes.map(({ name }) => name.slice(0, SHOWN)))) {
    const same = changes.filter(({ name }) => name.slice(0, SHOWN) === shown);
    let failed = 0;
    for (const one of tests)
      if (one.name.includes(shown) && (await tryChanged(() => errorOf(one))) !== undefined) failed += 1;
    for (const one of same) result.set(`${keyOf(one)}: ${one.leaf}`, failed >= same.length);
  }
  return result;
}

async function failuresOf(tests: readonly RunnerTestCase[]): Promise<string[]> {
  const failed: string[] = [];
  for (const one of tests) {
    const error = await errorOf(one);
    if (error !== undefined) failed.push(`${one.name}: ${error.message}`);
  }
  return failed;
}

/** A number that depends only on the seed and the text. */
function hash(seed: number, text: string): number {
  let value = seed;
  for (const letter of text) value = (Math.imul(value, 31) + letter.codePointAt(0)!) >>> 0;
  return value;
}
