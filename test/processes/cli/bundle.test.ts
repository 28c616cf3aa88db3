import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { command } from "../command.ts";

const folder = dirname(command);
const chunks = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith(".js"))
    .map((file) => [file, readFileSync(join(folder, file), "utf8")]),
);

test("a CommonJS package that is imported late is used through its default, since the bundle offers nothing else", () => {
  const late = [...chunks].filter(([, text]) => /^export default require_\w+\(\);$/m.test(text)).map(([file]) => file);
  expect(late.length).toBeGreaterThan(0);
  const wrong: string[] = [];
  for (const [file, text] of chunks) {
    for (const [, names = "", imports = ""] of text.matchAll(
      /const (\w+|\[[^\]]*\]) = await ([^;]*import\("\.\/[^;]*);/g,
    )) {
      const variables = names.replace(/[[\]\s]/g, "").split(",");
      const targets = Array.from(imports.matchAll(/import\("\.\/([^"]+)"\)/g), (match) => match[1] ?? "");
      targets.forEach((target, index) => {
        const used = new RegExp(`\\b${variables[index]}\\.(?!default\\b)\\w+`).exec(text);
        if (late.includes(target) && used) wrong.push(`${basename(file)}: ${used[0]} of ${target}`);
      });
    }
  }
  expect(wrong).toEqual([]);
});

test("what every start loads stays small", () => {
  const start = [
    ...chunks.get("main.js")!.matchAll(/^(?:import|export)[^;]*from "\.\/([^"]+)";|^} from "\.\/([^"]+)";/gm),
  ].map((match) => match[1] ?? match[2] ?? "");
  const bytes = ["main.js", ...start].reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  expect(bytes).toBeLessThan(250_000);
});
