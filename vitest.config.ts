import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Tests that count what their whole process holds open, or replace its clock, need one of their own. */
const alone = [
  "test/simulation/seeds.test.ts",
  "test/processes/cycles.test.ts",
  "test/processes/runners/process.test.ts",
  "src/runtime/commands/child.test.ts",
];
const exclude = ["**/node_modules/**", "dist/**", "test/soak/**", "test/fixtures/**"];

export default defineConfig({
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
    // Starting a program copies the page tables of the process that starts it. Threads of one process share more than a
    // gigabyte, and each of the thousands of starts took 40 ms of processor time; in a worker process of its own it takes 5.
    pool: "forks",
    // Most of the time goes by while processes start, so more files than processors are under way.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 2)),
    // Generous: many tests start real processes side by side, and a busy machine is slow, not wrong.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    passWithNoTests: false,
  },
});
