// @ts-check
import { embed } from "./embed.mjs";
import { install } from "./install.mjs";
import { report, startNode, tools } from "./step.mjs";

/** @type {Array<[name: string, tool: string, args: string[]]>} */
const steps = [
  ["format", tools.biome, ["format", "--reporter=summary", "."]],
  ["lint", tools.oxlint, ["--type-aware", "--deny-warnings", "--format=unix"]],
  ["types", tools.tsc, ["--noEmit", "--incremental", "--tsBuildInfoFile", ".cache/types.tsbuildinfo"]],
  ["types of the page", tools.tsc, ["--noEmit", "-p", "src/web/client"]],
  ["unused code", tools.knip, ["--production", "--no-progress"]],
  ["architecture", tools.vitest, ["run", "--reporter=dot", "test/architecture.test.ts"]],
];

if (!install()) process.exit(1);
await embed();
const started = performance.now();
const oks = await Promise.all(
  steps.map(async ([name, tool, args]) => {
    const start = performance.now();
    const done = await startNode(tool, args);
    report(name, done, start);
    return done.ok;
  }),
);
const failed = oks.filter((ok) => !ok).length;
const seconds = ((performance.now() - started) / 1000).toFixed(1);
process.stderr.write(`${steps.length - failed} of ${steps.length} checks passed (${seconds} s)\n`);
if (oks[0] === false) process.stderr.write("npm run format formats everything\n");
if (failed > 0) process.exitCode = 1;
