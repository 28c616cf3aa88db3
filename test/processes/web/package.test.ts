import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { command } from "../command.ts";

const root = join(command, "..", "..", "..");
const built = (name: string): Buffer => readFileSync(join(root, "dist", "cli", "web", name));

test("script and style of the page are at most 60 KB compressed", () => {
  const size = ["app.js", "app.css"].reduce((sum, name) => sum + gzipSync(built(name), { level: 9 }).length, 0);
  expect(size).toBeLessThanOrEqual(60 * 1024);
});

test("the page needs no inline script or style and no eval", () => {
  const page = built("index.html").toString();
  expect(page.match(/<script(?![^>]* src=)|<style|style=| on\w+=/g)).toBeNull();
  expect(/\beval\(|new Function\b/.test(built("app.js").toString())).toBe(false);
});
