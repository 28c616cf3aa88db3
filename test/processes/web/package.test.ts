import { execFileSync } from "node:child_process";
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

test("the package contains the page", () => {
  const listed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(listed.toString()) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  for (const name of ["index.html", "app.js", "app.css", "icon.svg"]) expect(paths).toContain(`dist/cli/web/${name}`);
  expect(paths.filter((path) => path.startsWith("dist/web/"))).toEqual([]);
});
