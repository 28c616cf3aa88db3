import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** The long rounds: as many repetitions as a release needs, not part of `npm test`. */
export default defineConfig({
  test: {
    pool: "forks",
    setupFiles: [join(import.meta.dirname, "test/support/end-with-runner.mjs")],
    include: ["test/soak/**/*.test.ts"],
    env: { SUBCREW_SOAK: "1" },
    // When a test has taken too long is decided for its file, in scripts/soak.mjs.
    testTimeout: 3 * 60 * 60_000,
    hookTimeout: 5 * 60_000,
    fileParallelism: false,
    maxConcurrency: 3,
    passWithNoTests: true,
  },
});
