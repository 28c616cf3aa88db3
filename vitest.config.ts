import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longFiles } from "./test/soak/long-files.ts";

/** Tests that count what their whole process holds open, or replace its clock, need one of their own. */
const alone = [
  "test/simulation/seeds.test.ts",
  "test/processes/cycles.test.ts",
  "test/processes/runners/process.test.ts",
  "src/runtime/commands/child.test.ts",
];

/** Files that take longest, mostly by waiting: begun last, one of them would hold up the end while the other workers are idle. */
const long = [
  "test/processes/runners/process.test.ts",
  "test/processes/engines/local.test.ts",
  "test/processes/cli/engine/engine.test.ts",
  "test/processes/web/page.test.ts",
  "test/processes/cli/runs/background.test.ts",
  "test/processes/engines/chaos.test.ts",
  "test/processes/cli/terminal/live.test.ts",
  "test/processes/docs/docs.test.ts",
];

/** Large tests first and small ones last, so that all workers end at about the same time. */
class LargeFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = ["alone", "processes", "modules"];
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const place = long.indexOf(relative(import.meta.dirname, moduleId));
      return projects.indexOf(project.name) * (long.length + 1) + (place < 0 ? long.length : place);
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const exclude = ["**/node_modules/**", "dist/**", "test/soak/**", "test/fixtures/**", ...longFiles];

/**
 * Tests load the modules of `dist/`, which `npm test` has just built from the same sources: Node loads them itself, and vite has only
 * the tests to transform. A test that is started without `npm test` loads the sources, since `dist/` may be older.
 */
const isBuilt = process.env["SUBCREW_TEST_BUILT"] === "1";
const builtModules = {
  name: "built modules",
  enforce: "pre" as const,
  resolveId(source: string, importer: string | undefined) {
    if (importer === undefined || !/^\.{1,2}\/.*\.ts$/.test(source)) return undefined;
    const file = relative(join(import.meta.dirname, "src"), resolve(dirname(importer), source));
    const built = join(import.meta.dirname, "dist", file.replace(/\.ts$/, ".js"));
    return !file.startsWith("..") && existsSync(built) ? { id: built, external: true } : undefined;
  },
};

export default defineConfig({
  plugins: isBuilt ? [builtModules] : [],
  // The same chance for every run: what other seeds find is for the soak, which has its own configuration.
  resolve: {
    alias: [{ find: /^fast-check$/, replacement: join(import.meta.dirname, "test/support/fixed-chance.ts") }],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "modules",
          // Modules are loaded once per worker: loading them anew for every file took a third of the time of small tests.
          isolate: false,
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...exclude, ...alone, "test/processes/**"],
        },
      },
      {
        extends: true,
        test: {
          name: "processes",
          isolate: false,
          include: ["test/processes/**/*.test.ts"],
          exclude: [...exclude, ...alone],
        },
      },
      { extends: true, test: { name: "alone", include: alone, exclude } },
    ],
    ...(isBuilt && { server: { deps: { external: [/\/dist\//] } } }),
    // Starting a program copies the page tables of the process that starts it. Threads of one process share more than a
    // gigabyte, and each of the thousands of starts took 40 ms of processor time; in a worker process of its own it takes 5.
    pool: "forks",
    sequence: { sequencer: LargeFirst },
    setupFiles: [join(import.meta.dirname, "test/support/end-with-runner.mjs")],
    // Most of the time goes by while processes start, so more files than processors are under way.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 2.5)),
    // Generous: many tests start real processes side by side, and a busy machine is slow, not wrong.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    passWithNoTests: false,
  },
});
