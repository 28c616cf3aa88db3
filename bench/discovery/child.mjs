// @ts-check
import { AGAIN } from "./compared.mjs";
import { againWithCache, contenders } from "./contenders.mjs";

/** Runs one contender (a compared program) once in its own process: `child.mjs NAME CORPUS`. */
const [name = "", json = "{}"] = process.argv.slice(2);
const corpus = JSON.parse(json);

/**
 * @param {() => unknown} work
 * @returns {Promise<number>} milliseconds
 */
async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** @type {Record<string, number>} */
const taken = {};
if (name === AGAIN) {
  const bareRead = await contenders["bare read"]?.();
  const again = await againWithCache();
  await again(corpus);
  taken["bare"] = await timed(() => bareRead?.(corpus));
  taken["worked"] = await timed(() => again(corpus));
} else {
  const load = contenders[name];
  if (load === undefined) throw new Error(`there is no contender named ${name}`);
  /** @type {import("./contenders.mjs").Work | undefined} */
  let work;
  taken["imported"] = await timed(async () => {
    work = await load();
  });
  taken["worked"] = await timed(() => work?.(corpus));
}
process.stdout.write(JSON.stringify(taken));
