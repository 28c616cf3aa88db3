import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    pool: "threads",
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "dist/**", "test/soak/**", "test/fixtures/**"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 5_000,
    passWithNoTests: false,
  },
});
