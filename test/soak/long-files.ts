/** Test files that only `npm run test:soak` runs, because `npm test` has ten minutes. `long-files.test.ts` loads them. */
export const longFiles = [
  "test/engines/orphaned-call.test.ts",
  "test/processes/cli/engine/hand-over.test.ts",
  "test/processes/runners/foreign/tools.test.ts",
  "test/processes/runtime/resume/kill-sample.test.ts",
  "test/processes/runtime/store/io-faults.test.ts",
];
