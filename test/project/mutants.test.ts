import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";
import { changeOf, covers, mutantsOf } from "../../scripts/mutants.mjs";
import { explained } from "../../scripts/mutants-explained.mjs";
import { suites } from "../../scripts/mutate-suites.mjs";
import { root } from "../../scripts/step.mjs";
import { shell } from "../support/repository.ts";
import { tempFolder } from "../support/temp-folder.ts";

const SOURCE = `
export async function worth(list: readonly number[], more: Readonly<Record<string, number>> = {}): Promise<unknown> {
  const all = [...list, ...Object.values({ ...more })];
  let sum = 0;
  for (const one of all) if (one > 2 && one !== 7) sum = sum + (await Promise.resolve(one));
  const seen: string[] = [];
  seen.push("end");
  return { sum, isLarge: sum >= 10 ? true : false, seen };
}
`;

test("a file with all changes does the same while none is switched on, and another thing with each of them", async () => {
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
});

test("each change that is explained exists, once or more, and its file is in the table", () => {
  const known = Object.keys(suites).map((file) => [file, mutantsOf(readFileSync(join(root, file), "utf8"))] as const);
  const mutants = Object.fromEntries(known.map(([file, found]) => [file, found.mutants]));
  const gone = explained.filter((entry) => !mutants[entry.file]?.some((one) => covers(entry, one)));
  expect(gone).toEqual([]);
});

test("the script passes over noticed changes, prints the others, and keeps each result", async () => {
  const folder = tempFolder({
    "src/sum.ts": "export const sum = (a: number, b: number): number => a + b;\nexport const limit = () => 5;\n",
    "src/sum.test.ts": `import { expect, test } from "vitest";
import { limit, sum } from "./sum.ts";
test("sum", () => expect(sum(2, 3)).toBe(5));
test("limit", () => expect(limit()).toBeGreaterThan(2));
test("fails also without a change", () => expect(1).toBe(2));
`,
    "scripts/mutate-suites.mjs": 'export const suites = { "src/sum.ts": [["src/sum.test.ts"]] };\n',
    "scripts/mutants-explained.mjs": "export const explained = [];\n",
  });
  for (const name of ["mutate", "mutants", "step"])
    cpSync(join(root, `scripts/${name}.mjs`), join(folder, `scripts/${name}.mjs`));
  mkdirSync(join(folder, "test/support"), { recursive: true });
  for (const name of ["mutants", "loaded-tests"])
    cpSync(join(root, `test/support/${name}.ts`), join(folder, `test/support/${name}.ts`));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  shell(folder, "git init -q && echo node_modules > .gitignore");
  const results = join(folder, "results.jsonl");
  const ran = await promisify(execFile)(process.execPath, ["scripts/mutate.mjs", "--all", "--results", results], {
    cwd: folder,
    env: { PATH: process.env["PATH"] },
  }).catch((error: unknown) => error as { code: number; stdout: string });
  expect(ran).toMatchObject({ code: 1 });
  expect(ran.stdout).toContain("left out, since it fails beside the others: fails also without a change");
  expect(ran.stdout).toContain("src/sum.ts:2: 5 -> 6\n");
  expect(ran.stdout).toContain("2 changes, 1 neither noticed nor explained");
  const kept = readFileSync(results, "utf8").trim().split("\n");
  expect(kept.map((each) => (JSON.parse(each) as { noticed: string | null }).noticed)).toEqual(["sum", null]);
});
