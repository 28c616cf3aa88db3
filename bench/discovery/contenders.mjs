// @ts-check
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * The programs that are compared (contenders). `load` imports the code of a contender and returns its work, which
 * returns the number of agents.
 *
 * @typedef {import("./corpus.mjs").Corpus} Corpus
 * @typedef {(corpus: Corpus) => number | Promise<number>} Work
 */

/** @type {Record<string, () => Promise<Work>>} */
export const contenders = {
  "bare read": async () => (corpus) => each(corpus, (text) => text.length > 0),
  "js-yaml": async () => {
    const { load } = await import("js-yaml");
    return (corpus) =>
      each(corpus, (text) => {
        const yaml = FRONTMATTER.exec(text)?.[1];
        return yaml !== undefined && load(yaml) !== undefined;
      });
  },
  "gray-matter": async () => {
    const matter = createRequire(import.meta.url)("gray-matter");
    // without this argument the library caches every text, and would parse each file only once in all rounds
    return (corpus) => each(corpus, (text) => Object.keys(matter(text, {}).data).length > 0);
  },
  subcrew: async () => {
    const { discoverAgents } = await subcrew();
    return async ({ cwd, home }) => count(await discoverAgents(cwd, { home }));
  },
};

/**
 * A repeated search for agents by a caller that keeps a cache.
 *
 * @returns {Promise<Work>}
 */
export async function againWithCache() {
  const { createDiscoveryCache, discoverAgents } = await subcrew();
  const cache = createDiscoveryCache();
  return async ({ cwd, home }) => count(await discoverAgents(cwd, { home, cache }));
}

/** @param {import("../../src/compat/omp/discover-agents.ts").AgentDiscoveryResult} found */
const count = ({ agents, shadowed }) => agents.length + shadowed.length;

/** Loads only the code that searches for agents. The measured code is dist; the types are those of its sources. */
export async function subcrew() {
  const { discoverAgents } = /** @type {typeof import("../../src/compat/omp/discover-agents.ts")} */ (
    await built("compat/omp/discover-agents.js")
  );
  const { createDiscoveryCache } = /** @type {typeof import("../../src/runtime/discovery/discover.ts")} */ (
    await built("runtime/discovery/discover.js")
  );
  return { discoverAgents, createDiscoveryCache };
}

/** @type {(file: string) => Promise<any>} */
const built = (file) => import(new URL(`../../dist/${file}`, import.meta.url).href);

const FRONTMATTER = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/;

/**
 * The usual hand-written loop over the files of some directories: list, read, parse, skip broken files.
 *
 * @param {Corpus} corpus
 * @param {(text: string) => boolean} read
 */
function each({ directories }, read) {
  let agents = 0;
  for (const directory of directories) {
    for (const path of filesIn(directory)) {
      try {
        if (read(readFileSync(path, "utf8"))) agents += 1;
      } catch {
        // the loop skips files that cannot be parsed
      }
    }
  }
  return agents;
}

/**
 * @param {string} directory
 * @returns {string[]}
 */
function filesIn(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesIn(path) : entry.name.endsWith(".md") ? [path] : [];
  });
}
