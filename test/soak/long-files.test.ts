import { join } from "node:path";
import { describe } from "vitest";

/** Files that take too long for `npm test`; those in other files of the soak are not listed again. */
const files = [
  "test/engines/orphaned-call.test.ts",
  "test/processes/cli/engine/hand-over.test.ts",
  "test/processes/runners/foreign/tools.test.ts",
  "test/processes/runtime/git/contests.test.ts",
  "test/processes/runtime/resume/kill-sample.test.ts",
  "test/processes/runtime/store/io-faults.test.ts",
];

describe.each(files)("%s", async (file) => {
  await import(/* @vite-ignore */ join(import.meta.dirname, "../..", file));
});
