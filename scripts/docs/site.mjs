// @ts-check
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { Marked } from "marked";

/** The pages of the site in the order of its menu; pages that are not named follow under "More". */
const menu = {
  Begin: ["README", "getting-started", "modes", "cookbook", "comparison", "migrating"],
  Use: [
    "agents",
    "models",
    "tools",
    "permissions",
    "runs",
    "chat",
    "screens",
    "web",
    "ci",
    "isolation",
    "delegation",
    "plans",
  ],
  Connect: ["mcp", "a2a", "acp", "runners", "scale-out"],
  Program: ["library", "extending"],
  Reference: ["cli", "config", "events", "errors", "api"],
  Help: ["troubleshooting", "security", "privacy", "SECURITY"],
  Contribute: ["CONTRIBUTING", "architecture", "CHANGELOG"],
};

/**
 * Writes the documentation as static files: one page per Markdown file, a menu, and a search that runs in the
 * browser. It makes no requests to other servers.
 *
 * @param {string} root
 * @param {string} folder
 * @returns {string}
 */
export function buildSite(root, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const docs = join(root, "docs");
  const tops = ["README", "AGENTS", "CONTRIBUTING", "SECURITY", "CHANGELOG"];
  const names = readdirSync(docs).flatMap((file) => (file.endsWith(".md") ? [file.slice(0, -3)] : []));
  const pages = [...tops, ...names.filter((name) => name !== "coverage")];
  const texts = new Map(
    pages.map((name) => [
      name,
      readFileSync(tops.includes(name) ? join(root, `${name}.md`) : join(docs, `${name}.md`), "utf8"),
    ]),
  );
  /** @type {{ page: string, title: string, anchor: string, text: string }[]} */
  const index = [];
  for (const [name, text] of texts) {
    index.push(...sections(name, text));
    writeFileSync(join(folder, fileOf(name)), page({ title: titleOf(text), body: html(text), nav: nav(texts, name) }));
  }
  writeFileSync(join(folder, "search.json"), JSON.stringify(index));
  writeFileSync(join(folder, "site.css"), CSS);
  writeFileSync(join(folder, "site.js"), SCRIPT);
  if (existsSync(join(docs, "pictures"))) cpSync(join(docs, "pictures"), join(folder, "pictures"), { recursive: true });
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  cpSync(join(docs, "decisions"), join(folder, "decisions"), { recursive: true }); // decision records are copied unchanged, for contributors
  return folder;
}

/**
 * Pages that get another file name, because names that differ only in case would be one file on some systems.
 *
 * @type {Readonly<Record<string, string>>}
 */
const renamed = { README: "index", AGENTS: "working-on-subcrew", SECURITY: "reporting" };

/** @param {string} name */
const fileOf = (name) => `${renamed[name] ?? name}.html`;

/** @param {string} text */
const titleOf = (text) => /^# (.+)$/m.exec(text)?.[1] ?? "subcrew";

/** @param {string} title */
const anchorOf = (title) =>
  title
    .toLowerCase()
    .replaceAll(/<[^>]+>|[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** @param {string} text */
const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/**
 * @param {string} name
 * @param {string} text
 */
function sections(name, text) {
  const plain = text.replaceAll(/<!--.*?-->/gs, "").replaceAll(/^```\w*$/gm, "");
  return plain.split(/^(?=#{1,4} )/m).flatMap((part) => {
    const [first = "", ...rest] = part.split("\n");
    const title = first.replace(/^#+ /, "");
    if (!first.startsWith("#")) return [];
    return [
      {
        page: fileOf(name),
        title,
        anchor: anchorOf(title),
        text: rest
          .join(" ")
          .replaceAll(/[|`*_\s]+/g, " ")
          .slice(0, 2000),
      },
    ];
  });
}

/** @param {string} text */
function html(text) {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }) {
        const id = anchorOf(title.replaceAll("`", ""));
        return `<h${depth} id="${escaped(id)}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${escaped(id)}" aria-label="link">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escaped(siteLink(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text: alt }) {
        return `<img src="${escaped(href.replace(/^docs\//, ""))}" alt="${escaped(alt)}">`;
      },
    },
  });
  const body = /** @type {string} */ (marked.parse(text.replaceAll(/<!--.*?-->\n?/gs, "")));
  return body.replaceAll("<table>", '<div class="table"><table>').replaceAll("</table>", "</table></div>");
}

/** Converts a link between Markdown files to a link between pages. @param {string} href */
function siteLink(href) {
  if (/^[a-z]+:/.test(href)) return href;
  const [path = "", anchor] = href
    .replace(/^\.\.\//, "")
    .replace(/^docs\//, "")
    .split("#");
  const file = /^[^/]+\.md$/.test(path) ? fileOf(path.slice(0, -".md".length)) : path;
  return anchor === undefined ? file : `${file}#${anchor}`;
}

/**
 * @param {ReadonlyMap<string, string>} texts
 * @param {string} current
 */
function nav(texts, current) {
  const named = new Set(Object.values(menu).flat());
  const groups = { ...menu, More: [...texts.keys()].filter((name) => !named.has(name)) };
  return Object.entries(groups)
    .map(([group, names]) => {
      const items = names
        .filter((name) => texts.has(name))
        .map((name) => {
          const title = name === "README" ? "Overview" : titleOf(texts.get(name) ?? "");
          return `<li><a href="${fileOf(name)}"${name === current ? ' aria-current="page"' : ""}>${escaped(title)}</a></li>`;
        });
      return items.length === 0 ? "" : `<h2>${group}</h2><ul>${items.join("")}</ul>`;
    })
    .join("");
}

/** @param {{ title: string, body: string, nav: string }} parts */
const page = ({ title, body, nav: links }) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'; img-src 'self' data:">
<title>${escaped(title)} - subcrew</title>
<link rel="stylesheet" href="site.css">
<script src="site.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<nav aria-label="Pages"><a class="home" href="index.html">subcrew</a>
<label for="search">Search</label><input id="search" type="search" autocomplete="off" placeholder="press /"><ol id="found" aria-live="polite"></ol>
${links}</nav>
<main id="content">${body}</main>
</body>
</html>
`;

const CSS = `:root{color-scheme:light dark;--line:#8884;--soft:#8881;--link:#0969da}
@media (prefers-color-scheme:dark){:root{--link:#58a6ff}}
*{box-sizing:border-box}body{margin:0;font:16px/1.6 system-ui,sans-serif;display:grid;grid-template-columns:16rem minmax(0,1fr)}
nav{padding:1rem;border-right:1px solid var(--line);height:100vh;overflow:auto;position:sticky;top:0}nav h2{font-size:.75rem;text-transform:uppercase;margin:1.2rem 0 .2rem;opacity:.7}
nav ul,nav ol{list-style:none;margin:0;padding:0}nav a{display:block;padding:.1rem 0;color:inherit;text-decoration:none}nav a:hover,nav a[aria-current]{color:var(--link)}
.home{font-weight:700;font-size:1.2rem}label{position:absolute;left:-99rem}input{width:100%;padding:.4rem;margin-top:.6rem;font:inherit}#found a{padding:.3rem 0;border-bottom:1px solid var(--line)}#found small{display:block;opacity:.7}
main{padding:1rem 2rem 6rem;max-width:56rem}a{color:var(--link)}h1,h2,h3,h4{line-height:1.25}h2{margin-top:2.2rem}.anchor{opacity:0;text-decoration:none}:is(h1,h2,h3,h4):hover .anchor{opacity:.6}
pre{background:var(--soft);padding:.8rem;overflow:auto;border-radius:6px}code{font:.9em ui-monospace,monospace}:not(pre)>code{background:var(--soft);padding:.1em .3em;border-radius:4px}
.table{overflow-x:auto}table{border-collapse:collapse}td,th{border:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top}img{max-width:100%}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem}@media (max-width:50rem){body{display:block}nav{height:auto;position:static;border:0}main{padding:1rem}}
`;

const SCRIPT = `const input = document.getElementById("search"), found = document.getElementById("found");
let index;
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
  if (event.key === "Escape") { input.value = ""; found.replaceChildren(); }
});
input.addEventListener("input", async () => {
  index ??= await (await fetch("search.json")).json();
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const hits = words.length === 0 ? [] : index.map((entry) => {
    const title = entry.title.toLowerCase(), text = entry.text.toLowerCase();
    const scores = words.map((word) => (title === word ? 8 : title.includes(word) ? 4 : 0) + (text.includes(word) ? 1 : 0));
    return { entry, score: scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0) };
  }).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score).slice(0, 12);
  found.replaceChildren(...hits.map(({ entry }) => {
    const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
    link.href = entry.page + "#" + entry.anchor;
    link.textContent = entry.title;
    const at = Math.max(0, entry.text.toLowerCase().indexOf(words[0]) - 30);
    small.textContent = entry.text.slice(at, at + 90);
    link.append(small);
    item.append(link);
    return item;
  }));
  if (words.length > 0 && hits.length === 0) found.textContent = "Nothing found.";
});
`;

/** @type {Record<string, string>} */
const types = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".md": "text/plain",
  ".ts": "text/plain",
  ".yaml": "text/plain",
};

/**
 * The file of the site for a URL; `undefined` when there is none.
 *
 * @param {string} folder
 * @param {string} url
 */
function servedFile(folder, url) {
  try {
    const path = decodeURIComponent(new URL(url, "http://localhost").pathname);
    const file = normalize(join(folder, path.endsWith("/") ? `${path}index.html` : path));
    return file.startsWith(folder + sep) && statSync(file).isFile() ? file : undefined;
  } catch {
    return undefined; // the URL is not valid, or there is no such file
  }
}

/**
 * Serves the files on the loopback address.
 *
 * @param {string} folder
 * @param {number} port
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function serveSite(folder, port) {
  const server = createServer((request, response) => {
    const file = servedFile(folder, request.url ?? "/");
    if (file === undefined) {
      response.writeHead(404).end("There is no such page.");
      return;
    }
    response.writeHead(200, { "content-type": `${types[extname(file)] ?? "application/octet-stream"}; charset=utf-8` });
    response.end(readFileSync(file));
  });
  await new Promise((resolve, reject) =>
    server.once("error", reject).listen(port, "127.0.0.1", () => resolve(undefined)),
  );
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
