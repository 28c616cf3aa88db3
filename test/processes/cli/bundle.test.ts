import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { command } from "../command.ts";

const folder = dirname(command);

/** The files that Node reads before the first line of this file runs, including the file itself. */
function loadedWith(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(join(folder, file), "utf8").matchAll(/^(?:import|export)[^;]*?"\.\/([^"]+\.js)";$/gm);
  for (const [, next = ""] of imports) loadedWith(next, found);
  return found;
}

test("the command loads few files at its start", () => {
  const files = [...loadedWith("main.js")];
  expect(files.length).toBeLessThan(6);
  expect(files.reduce((bytes, file) => bytes + statSync(join(folder, file)).size, 0)).toBeLessThan(200_000);
});

test("a command that shows runs loads few files", () => {
  const ps = readdirSync(folder).find((file) => /^ps-.*\.js$/.test(file))!;
  const files = loadedWith(ps);
  expect(files.size).toBeGreaterThan(2);
  expect(files.size).toBeLessThan(20);
});
