// @ts-check
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleDoors } from "./bundle-doors.mjs";
import { embed } from "./embed.mjs";
import { install } from "./install.mjs";
import { isMain, report, root, runNode, step, tools } from "./step.mjs";

/**
 * Builds dist/: the library one file per module and, for those who use it, its doors bundled into lazy chunks; the command
 * bundled likewise. The old dist stays in place until the new one is whole. Returns false after a failure, which has been shown by then.
 *
 * @returns {Promise<boolean>}
 */
export async function build() {
  const staging = join(root, ".cache", `dist-${process.pid}`);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  try {
    if (!step("embed", quietly(embed))) return false;
    if (!step("library", () => runNode(tools.tsc, ["-p", "tsconfig.build.json", "--outDir", staging]))) return false;
    if (!(await timed("doors", () => bundleDoors(join(staging, "lib"), staging)))) return false;
    if (!(await timed("command", () => bundleCommand(join(staging, "cli"))))) return false;
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
 * Chunks lie flat beside main.js, so that `../../package.json` means the same file in src/cli, dist/cli and every chunk.
 *
 * @param {string} outdir
 * @returns {Promise<import("./step.mjs").Done>}
 */
async function bundleCommand(outdir) {
  const entry = join(root, "src", "cli", "main.ts");
  const children = ["task-child", "quarantine-child"]; // what the command starts processes and threads with
  if (!existsSync(entry)) return { ok: false, output: "src/cli/main.ts is missing: there is no command to bundle" };
  const started = children.map((name) => [name, join(root, "src", `${name}.ts`)]);
  const entryPoints = { main: entry, ...Object.fromEntries(started) };
  const done = await bundle({ entryPoints, outdir, external: optionalPackages(), plugins: [oneLanguage] });
  if (done.ok) makeExecutable(join(outdir, "main.js"));
  return done;
}

/**
 * @param {import("esbuild").BuildOptions} options
 * @returns {Promise<import("./step.mjs").Done>}
 */
async function bundle(options) {
  const { build: esbuild } = await import("esbuild");
  try {
    await esbuild({
      absWorkingDir: root,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node20.19",
      chunkNames: "[name]-[hash]",
      legalComments: "none",
      banner: { js: requireBanner },
      logLevel: "error",
      ...options,
    });
  } catch {
    return { ok: false, output: "" }; // esbuild has printed why
  }
  return { ok: true, output: "" };
}

/**
 * zod brings its messages in fifty languages, of which it uses one: without the others the command starts 25 ms sooner.
 *
 * @type {import("esbuild").Plugin}
 */
const oneLanguage = {
  name: "one language",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** Bundled CommonJS packages call require() for node's own modules; an ES module has none. */
const requireBanner = [
  'import { createRequire as __createRequire } from "node:module";',
  "const require = __createRequire(import.meta.url);",
].join("\n");

/** What may be absent on a user's machine is never bundled, unless it was installed here for that. */
function optionalPackages() {
  const {
    optionalDependencies = {},
    peerDependencies = {},
    devDependencies = {},
  } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return [...Object.keys(optionalDependencies), ...Object.keys(peerDependencies)]
    .filter((name) => !Object.hasOwn(devDependencies, name))
    .flatMap((name) => [name, `${name}/*`]);
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
 * @param {() => void} work
 * @returns {() => import("./step.mjs").Done}
 */
const quietly = (work) => () => {
  try {
    work();
    return { ok: true, output: "" };
  } catch (error) {
    return { ok: false, output: error instanceof Error ? error.message : String(error) };
  }
};

if (isMain(import.meta.url) && !(install() && (await build()))) process.exitCode = 1;
