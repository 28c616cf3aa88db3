import { appendFileSync, utimesSync } from "node:fs";
import { describe, type RunnerTestCase, test, TestRunner } from "vitest";
import { errorOf, loadTests, suitesOf } from "./loaded-tests.ts";

/**
 * The work of one process of scripts/mutate.mjs. The changed file contains all mutants, and `subcrewMutant` switches
 * one on. The report gets a line when a mutant is started and one when it is decided, and is touched when a test
 * begins; `always` is a mutant that is on from the start, because its code runs when the module is loaded.
 */
export type MutantWork = Readonly<{
  /** The test files. */
  files: readonly string[];
  ids: readonly number[];
  always?: number;
  /** The tests that passed without a mutant in an earlier process, with their durations in milliseconds. */
  passed: Readonly<Record<string, number>>;
  report: string;
}>;

/** A test that takes this many times as long as without a mutant counts as hanging. */
const TIMES = 20;
const LEAST_MS = 30_000;

type Timed = { readonly run: RunnerTestCase; ms?: number | undefined };
type Tell = (line: object) => void;

export function tryMutants({ files, ids, always, passed, report }: MutantWork): void {
  const world = globalThis as { subcrewMutant?: number };
  const tell: Tell = (line) => appendFileSync(report, `${JSON.stringify(line)}\n`);
  if (always !== undefined) world.subcrewMutant = always;

  describe("mutants", async () => {
    const tests: Timed[] = [];
    for (const file of files)
      for (const run of await loadTests(file, "mutants"))
        if (always === undefined || passed[run.name] !== undefined) tests.push({ run, ms: passed[run.name] });

    test("are noticed", { timeout: 24 * 60 * 60_000 }, async () => {
      await beginSuites(tests);
      const isNew = tests.every(({ ms }) => ms !== undefined);
      if (always === undefined) await withoutMutants(tests, tell);
      for (const id of ids) {
        tell({ begun: id });
        world.subcrewMutant = id;
        const noticed = await firstFailure(tests, () => utimesSync(report, new Date(), new Date()));
        if (always === undefined) delete world.subcrewMutant;
        // Effects that one mutant left behind must not count for the next one.
        const isSpoiled =
          noticed !== undefined && always === undefined && (noticed.hangs || (await within(noticed.one)) !== undefined);
        // A test that also fails without the mutant may fail because of earlier tests: only a new process can decide.
        const isSure = !isSpoiled || noticed.hangs || (isNew && id === ids[0]);
        if (isSure) tell({ id, noticed: noticed?.one.run.name ?? null, error: noticed?.error.message.slice(0, 200) });
        if (isSpoiled) {
          tell({ spoiled: id });
          return;
        }
      }
      tell({ done: true });
    });
  });
}

/**
 * Runs the tests that no process has run without a mutant yet, and removes those that fail together with the other
 * tests.
 */
async function withoutMutants(tests: Timed[], tell: Tell): Promise<void> {
  for (const one of [...tests]) {
    if (one.ms !== undefined) continue;
    const start = performance.now();
    const error = await errorOf(one.run);
    one.ms = performance.now() - start;
    if (error === undefined) tell({ passed: one.run.name, ms: one.ms });
    else {
      tests.splice(tests.indexOf(one), 1);
      tell({ unusable: one.run.name, error: error.message });
    }
  }
}

type Failure = Readonly<{ one: Timed; error: Error; hangs: boolean }>;

/**
 * The first test that fails; it runs first next time, because neighbouring mutants are often noticed by the same test.
 */
async function firstFailure(tests: Timed[], begins: () => void): Promise<Failure | undefined> {
  for (const [at, one] of tests.entries()) {
    begins();
    const error = await within(one);
    if (error === undefined) continue;
    tests.unshift(...tests.splice(at, 1));
    return { one, error, hangs: error === HANGS };
  }
  return undefined;
}

const HANGS = new Error("hangs");

function within(one: Timed): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(HANGS), Math.max(LEAST_MS, TIMES * (one.ms ?? 0)));
    void errorOf(one.run).then((error) => {
      clearTimeout(timer);
      resolve(error);
    });
  });
}

async function beginSuites(tests: readonly Timed[]): Promise<void> {
  const outer = new Set(suitesOf(TestRunner.getCurrentTest()));
  for (const suite of new Set(tests.flatMap(({ run }) => suitesOf(run))))
    if (!outer.has(suite)) for (const hook of TestRunner.getSuiteHooks(suite).beforeAll) await hook(suite);
}
