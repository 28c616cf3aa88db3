// @ts-check
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { embed } from "./embed.mjs";
import { install } from "./install.mjs";
import { isMain, root } from "./step.mjs";

/**
 * Writes the generated parts of docs/: `npm run docs`. With `--site` it also writes the documentation as static files
 * to `.cache/site`, and with `--serve` it serves them at a local address.
 *
 * @param {readonly string[]} flags
 */
async function main(flags) {
  await embed();
  const { build } = await import("esbuild");
  const outfile = join(root, ".cache", "docs-pages.mjs");
  mkdirSync(join(root, ".cache"), { recursive: true });
  await build({
    entryPoints: [join(root, "scripts", "docs", "pages.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
  const { generatedPages } = await import(pathToFileURL(outfile).href);
  for (const [file, make] of Object.entries(await generatedPages(root))) {
    const path = join(root, file);
    writeFileSync(path, make(read(path)));
  }
  if (!flags.includes("--site") && !flags.includes("--serve")) return;
  const { buildSite, serveSite } = await import("./docs/site.mjs");
  const folder = buildSite(root, join(root, ".cache", "site"));
  process.stdout.write(`${folder}\n`);
  if (flags.includes("--serve")) {
    const { url } = await serveSite(folder, Number(process.env["PORT"] ?? 4300));
    process.stdout.write(`The documentation is at ${url}; end with Ctrl-C.\n`);
  }
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

if (isMain(import.meta.url)) {
  if (install()) await main(process.argv.slice(2));
  else process.exitCode = 1;
}
