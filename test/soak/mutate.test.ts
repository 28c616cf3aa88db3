import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../../scripts/step.mjs";
import { shell } from "../support/repository.ts";
import { tempFolder } from "../support/temp-folder.ts";

test("the script skips noticed mutations, prints the others, and stores each result", async () => {
  const folder = tempFolder({
    "src/sum.ts": `export const sum = (a: number, b: number): number => a + b;
export const limit = () => 5;
export const shown = 3;
`,
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
  expect(ran.stdout).toContain("src/sum.ts:2: 5 -> 6\nsrc/sum.ts:3: 3 -> 4\n");
  expect(ran.stdout).toContain("3 changes, 2 neither noticed nor explained");
  const kept = readFileSync(results, "utf8").trim().split("\n");
  expect(kept.map((each) => (JSON.parse(each) as { noticed: string | null }).noticed)).toEqual(["sum", null, null]);
});
