import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { buildSite, serveSite } from "../../scripts/docs/site.mjs";

const temporary = mkdtempSync(join(tmpdir(), "subcrew-site-"));
const folder = buildSite(join(import.meta.dirname, "..", ".."), join(temporary, "site"));
const site = await serveSite(folder, 0);
afterAll(async () => {
  await site.close();
  rmSync(temporary, { recursive: true });
});
const pages = readdirSync(folder).filter((name) => name.endsWith(".html"));

test("the site has a page for README and for every user document, each in the menu", () => {
  expect(pages).toEqual(expect.arrayContaining(["index.html", "getting-started.html", "errors.html", "api.html"]));
  expect(pages).not.toContain("coverage.html");
  const menu = readFileSync(join(folder, "index.html"), "utf8").split("<main")[0] ?? "";
  for (const page of pages) expect(menu).toContain(`href="${page}"`);
});

test.each(pages)("links and pictures of %s are in the site, and nothing is loaded from other hosts", (page) => {
  const html = readFileSync(join(folder, page), "utf8");
  expect(html).not.toMatch(/(?:src|srcset)="(?:https?:)?\/\//);
  expect(html).not.toMatch(/<link[^>]+href="(?:https?:)?\/\//);
  for (const [, target = ""] of html.matchAll(/(?:href|src)="([^"#:]+)(?:#[^"]*)?"/g))
    if (!/^(AGENTS|decisions|coverage|bench|examples)/.test(target))
      // files of the repository that are not pages
      expect([page, target, existsSync(join(folder, target))]).toEqual([page, target, true]);
});

test("the search index finds an error code with the page and the section that explain it", async () => {
  const index = (await (await fetch(`${site.url}search.json`)).json()) as {
    page: string;
    title: string;
    anchor: string;
  }[];
  expect(index.find(({ title }) => title === "NEEDS_ANSWER")).toMatchObject({
    page: "errors.html",
    anchor: "needs_answer",
  });
  expect(readFileSync(join(folder, "errors.html"), "utf8")).toContain('id="needs_answer"');
});

test("the server serves pages of the site and nothing else", async () => {
  expect((await fetch(site.url)).status).toBe(200);
  expect((await fetch(`${site.url}missing.html`)).status).toBe(404);
  expect((await fetch(`${site.url}..%2f..%2fpackage.json`)).status).toBe(404);
});
