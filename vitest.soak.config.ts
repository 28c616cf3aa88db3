import { defineConfig } from "vitest/config";

/** The long rounds: as many repetitions as a release needs, not part of `npm test`. */
export default defineConfig({
  test: {
    pool: "forks",
    include: ["test/soak/**/*.test.ts"],
    // By estimate the longest tests take three quarters of an hour on two quiet processors, and all of them three hours.
    testTimeout: 3 * 60 * 60_000,
    hookTimeout: 5 * 60_000,
    fileParallelism: false,
    passWithNoTests: true,
  },
});
