// @ts-check
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { AGAIN, compared } from "./compared.mjs";
import { contenders } from "./contenders.mjs";

const ROUNDS = 15;

/**
 * Measures all compared programs in new processes, so that nothing is compiled yet. The files are in the cache of the
 * operating system.
 *
 * @param {import("./corpus.mjs").Corpus} corpus
 */
export async function fresh(corpus) {
  const names = [...Object.keys(contenders), AGAIN];
  /** @type {Map<string, number[]>} */
  const work = new Map(names.map((name) => [name, []]));
  /** @type {Map<string, number[]>} */
  const withImport = new Map(Object.keys(contenders).map((name) => [name, []]));
  /** @type {Map<string, number[]>} */
  const second = new Map([AGAIN, "bare read"].map((name) => [name, []]));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (let index = 0; index < names.length; index += 1) {
      const name = names[(index + round + names.length) % names.length] ?? "";
      const { imported, worked, bare } = inChild(name, corpus);
      if (round < 0) continue;
      if (bare === undefined) {
        work.get(name)?.push(worked);
        withImport.get(name)?.push(imported + worked);
      } else {
        second.get(AGAIN)?.push(worked);
        second.get("bare read")?.push(bare);
      }
    }
  }
  work.delete(AGAIN);
  const how = `median of ${ROUNDS} processes each, interleaved`;
  return [
    compared(work, { title: "Each in a fresh process, from the call to the answer", how }),
    compared(withImport, { title: "The same, including the imports", how, judged: false }),
    compared(second, { title: "The second discovery in a fresh process, compared with its first bare read", how }),
  ];
}

/**
 * @param {string} name
 * @param {import("./corpus.mjs").Corpus} corpus
 * @returns {{ imported: number, worked: number, bare?: number }}
 */
function inChild(name, corpus) {
  const child = join(import.meta.dirname, "child.mjs");
  const run = spawnSync(process.execPath, [child, name, JSON.stringify(corpus)], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`${name}: ${run.stderr}`);
  return JSON.parse(run.stdout);
}
