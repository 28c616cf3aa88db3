// @ts-check
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMain, root, step } from "./step.mjs";

const stamp = join(root, "node_modules", ".subcrew-installed");

/**
 * Installs the packages of the lockfile, unless they are installed already. Returns false after a failed install,
 * whose output has been printed.
 *
 * @returns {boolean}
 */
export function install() {
  const wanted = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8").trim() === wanted) return true;
  if (installedByHand()) {
    writeFileSync(stamp, `${wanted}\n`);
    return true;
  }

  return step("install", () => {
    const done = npm(["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], root);
    if (done.ok) writeFileSync(stamp, `${wanted}\n`);
    return done;
  });
}

/**
 * True when a manual `npm install` has installed exactly the packages of the lockfile, so that nothing needs to be
 * reinstalled.
 */
function installedByHand() {
  const record = join(root, "node_modules", ".package-lock.json"); // npm's own list of the packages that it installed
  if (!existsSync(record)) return false;
  /** @type {(file: string) => Record<string, { version?: string, optional?: boolean }>} */
  const packagesOf = (file) => JSON.parse(readFileSync(file, "utf8")).packages;
  const { "": _root, ...wanted } = packagesOf(join(root, "package-lock.json"));
  const there = packagesOf(record);
  /** @type {(path: string) => boolean} */
  const right = (path) =>
    path in there ? there[path]?.version === wanted[path]?.version : wanted[path]?.optional === true;
  return Object.keys(wanted).every(right) && Object.keys(there).every((path) => path in wanted);
}

/**
 * Runs npm in a folder; its output is kept and shown only if it fails.
 *
 * @param {string[]} args
 * @param {string} cwd
 * @returns {import("./step.mjs").Done}
 */
export function npm(args, cwd) {
  const script = process.env["npm_execpath"]; // npm sets this inside `npm run`; a plain `npm` is a .cmd file on Windows
  const [command, first] = script?.endsWith("npm-cli.js") ? [process.execPath, [script]] : ["npm", []];
  const run = spawnSync(command, [...first, ...args], { cwd, encoding: "utf8" });
  return { ok: run.status === 0, output: `${run.stdout ?? ""}${run.stderr ?? ""}${run.error?.message ?? ""}` };
}

if (isMain(import.meta.url) && !install()) process.exitCode = 1;
