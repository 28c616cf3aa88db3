// @ts-check
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundleCommand, bundleDoors, bundlePage } from "./bundle.mjs";
import { cacheCode } from "./code-cache.mjs";
import { embed } from "./embed.mjs";
import { install } from "./install.mjs";
import { isMain, report, root, runNode, step, tools } from "./step.mjs";

/**
 * Builds dist/: the library as one file per module, its entry points bundled with chunks that are loaded on demand, the
 * command-line program bundled in the same way, and the page of `subcrew web`. The old dist stays in place until the
 * new one is complete. Returns false after a failure, whose output has been printed.
 *
 * @returns {Promise<boolean>}
 */
export async function build() {
  const staging = join(root, ".cache", `dist-${process.pid}`);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  try {
    if (!(await timed("embed", () => quietly(embed)))) return false;
    // The build writes the modules without checking types, which takes a third of the time; `npm run check` checks the
    // types.
    const library = ["-p", "tsconfig.build.json", "--noCheck", "--outDir", staging];
    if (!step("library", () => runNode(tools.tsc, library))) return false;
    if (!(await timed("doors", () => bundleDoors(join(staging, "lib"), staging)))) return false;
    if (!(await timed("schemas", () => writeSchemas(join(staging, "schemas"), staging)))) return false;
    if (!(await timed("command", () => command(join(staging, "cli"), staging)))) return false;
    if (!step("compiled code", () => cacheCode(join(staging, "cli")))) return false;
    if (!(await timed("page", () => bundlePage(join(staging, "cli", "web"))))) return false;
    replace(join(root, "dist"), staging);
    return true;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * @param {string} name
 * @param {() => Promise<import("./step.mjs").Done>} work
 */
async function timed(name, work) {
  const start = performance.now();
  const done = await work();
  report(name, done, start);
  return done.ok;
}

/**
 * Writes the JSON Schemas of the input and output of subcrew, for editors and for programs in other languages.
 *
 * @param {string} outdir
 * @param {string} modules
 * @returns {Promise<import("./step.mjs").Done>}
 */
async function writeSchemas(outdir, modules) {
  const { jsonSchemaFor, schemaNames } = await import(pathToFileURL(join(modules, "doors", "schemas.js")).href);
  mkdirSync(outdir);
  for (const name of schemaNames)
    writeFileSync(join(outdir, `${name}.json`), `${JSON.stringify(jsonSchemaFor(name), null, 2)}\n`);
  return { ok: true, output: "" };
}

/**
 * @param {string} outdir
 * @param {string} modules
 * @returns {Promise<import("./step.mjs").Done>}
 */
async function command(outdir, modules) {
  const done = await bundleCommand(outdir, modules);
  if (done.ok) makeExecutable(join(outdir, "main.js"));
  return done;
}

/** @param {string} file */
function makeExecutable(file) {
  const text = readFileSync(file, "utf8");
  if (!text.startsWith("#!")) writeFileSync(file, `#!/usr/bin/env node\n${text}`);
  chmodSync(file, 0o755);
}

/**
 * @param {string} folder
 * @param {string} next
 */
function replace(folder, next) {
  const old = `${next}-old`;
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(next, folder);
  rmSync(old, { recursive: true, force: true });
}

/**
 * @param {() => Promise<void>} work
 * @returns {Promise<import("./step.mjs").Done>}
 */
const quietly = async (work) => {
  try {
    await work();
    return { ok: true, output: "" };
  } catch (error) {
    return { ok: false, output: error instanceof Error ? error.message : String(error) };
  }
};

if (isMain(import.meta.url) && !(install() && (await build()))) process.exitCode = 1;
