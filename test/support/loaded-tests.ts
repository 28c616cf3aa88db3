import { type RunnerTestCase, type RunnerTestSuite, TestRunner } from "vitest";

/**
 * Loads a test file inside the callback of a suite and takes its tests out of that suite, so that vitest does not run
 * them: the caller runs them, as often as needed. A name makes vitest load the file again; its imports are loaded once.
 */
export async function loadTests(file: string, name: string): Promise<readonly RunnerTestCase[]> {
  const suite = TestRunner.getCurrentSuite();
  await import(/* @vite-ignore */ `${file}?${name}`);
  for (const [at, task] of suite.tasks.entries())
    if (task.type === "collector") suite.tasks[at] = (await task.collect(suite.suite!.file)) as never;
  return suite.tasks.splice(0).flatMap((task) => testsOf(task as RunnerTestCase | RunnerTestSuite));
}

const testsOf = (task: RunnerTestCase | RunnerTestSuite): RunnerTestCase[] =>
  task.type === "test" ? (task.mode === "run" ? [task] : []) : task.tasks.flatMap(testsOf);

/** Runs a loaded test with its hooks: returns the error that it throws, or nothing when it passes. */
export async function errorOf(one: RunnerTestCase): Promise<Error | undefined> {
  const around = suitesOf(one).map((suite) => TestRunner.getSuiteHooks(suite));
  const current = TestRunner.getCurrentTest() as { onFinished?: ((context: unknown) => unknown)[] } | undefined;
  try {
    for (const { beforeEach } of around) for (const hook of beforeEach) await hook(one.context, one.suite as never);
    await TestRunner.getTestFn(one)();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error("threw something that is no error", { cause: error });
  } finally {
    for (const { afterEach } of around.toReversed())
      for (const hook of afterEach) await hook(one.context, one.suite as never);
    // Hooks that it registered with onTestFinished belong to the test that runs it.
    for (const hook of current?.onFinished?.splice(0).toReversed() ?? []) await hook(one.context);
  }
}

/** The suites of a test, the outermost first. */
export function suitesOf(one: RunnerTestCase): RunnerTestSuite[] {
  const suites: RunnerTestSuite[] = [];
  for (let suite = one.suite; suite; suite = suite.suite) suites.unshift(suite);
  return suites;
}
