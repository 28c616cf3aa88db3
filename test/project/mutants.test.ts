import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";
import { changeOf, covers, mutantsOf } from "../../scripts/mutants.mjs";
import { explained } from "../../scripts/mutants-explained.mjs";
import { suites } from "../../scripts/mutate-suites.mjs";
import { root } from "../../scripts/step.mjs";

const SOURCE = `
export async function worth(list: readonly number[], more: Readonly<Record<string, number>> = {}): Promise<unknown> {
  const all = [...list, ...Object.values({ ...more })];
  let sum = 0;
  for (const one of all) if (one > 2 && one !== 7) sum = sum + (await Promise.resolve(one));
  const seen: string[] = [];
  if (sum === 10) seen.push("ten");
  else seen.push("other");
  return { sum, isLarge: sum >= 10 ? true : false, seen };
}
`;

test("a file with all mutations behaves the same while none is switched on, and differently with each of them", async () => {
  const { mutants, write } = mutantsOf(SOURCE);
  const world = globalThis as { subcrewMutant?: number };
  const load = async (text: string): Promise<(...given: unknown[]) => Promise<unknown>> => {
    const { code } = transformSync(text, { loader: "ts", format: "esm" });
    return ((await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as { worth: never })
      .worth;
  };
  const results = async (worth: (...given: unknown[]) => Promise<unknown>): Promise<string> => {
    const given = [[[2, 3, 7]], [[1, 10], { a: 3 }], [[3, 7], { a: 7 }], [[10]], [[4, 6]]];
    return JSON.stringify(await Promise.all(given.map((each) => worth(...each))));
  };
  const right = await results(await load(SOURCE));
  const changed = await load(write(mutants));
  expect(await results(changed)).toBe(right);
  const unnoticed: string[] = [];
  for (const one of mutants) {
    world.subcrewMutant = one.id;
    if ((await results(changed).catch(() => "")) === right) unnoticed.push(changeOf(one));
    delete world.subcrewMutant;
  }
  expect(unnoticed).toEqual([]);
  expect(mutants.length).toBeGreaterThan(15);
  const changes = mutants.map(changeOf);
  for (const kind of ['seen.push("other"); -> nothing', "sum >= 10 -> sum > 10", "2 -> 3", "...list -> nothing"])
    expect(changes).toContain(kind);
});

test("each explained mutation exists, once or more, and its file is in the table", () => {
  const known = Object.keys(suites).map((file) => [file, mutantsOf(readFileSync(join(root, file), "utf8"))] as const);
  const mutants = Object.fromEntries(known.map(([file, found]) => [file, found.mutants]));
  const gone = explained.filter((entry) => !mutants[entry.file]?.some((one) => covers(entry, one)));
  expect(gone).toEqual([]);
});
