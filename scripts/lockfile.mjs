// @ts-check
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMain, root } from "./step.mjs";

/**
 * @typedef {{ version?: string, resolved?: string, dev?: boolean, optional?: boolean, os?: string[], cpu?: string[], libc?: string[],
 *   optionalDependencies?: Record<string, string> }} Entry
 * @typedef {{ packages: Record<string, Entry> }} Lockfile
 */

const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm", "arm64", "ia32", "loong64", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

/**
 * Completes a lockfile for other platforms: npm leaves out platform packages that its registry did not serve, and `npm
 * ci` then refuses the file on every machine. No entry names a registry host.
 *
 * @param {Lockfile} lockfile
 * @returns {Lockfile}
 */
export function completed(lockfile) {
  const packages = { ...lockfile.packages };
  for (const entry of Object.values(lockfile.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!/^\d/.test(version)) continue;
      packages[`node_modules/${name}`] ??= platformPackage(name, { version, ...(entry.dev ? { dev: true } : {}) });
    }
  }
  const sorted = Object.keys(packages).sort((a, b) => a.localeCompare(b, "en"));
  return { ...lockfile, packages: Object.fromEntries(sorted.map((path) => [path, hostless(packages[path] ?? {})])) };
}

/**
 * Adds the platform to the entry of a platform package, from its name: `@biomejs/cli-linux-x64-musl`.
 *
 * @param {string} name
 * @param {Entry} entry
 * @returns {Entry}
 */
function platformPackage(name, { version, ...entry }) {
  const words = name.split(/[-/]/).map((word) => (word === "eabi" ? "arm" : word));
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor));
  const libc = words.some((word) => word.startsWith("musl")) ? ["musl"] : [];
  return {
    ...(version === undefined ? {} : { version }),
    ...(cpu.length > 0 ? { cpu } : {}),
    ...entry,
    ...(libc.length > 0 ? { libc } : {}),
    optional: true,
    ...(os.length > 0 ? { os } : {}),
  };
}

/**
 * @param {Entry} entry
 * @returns {Entry}
 */
function hostless({ resolved, ...entry }) {
  return resolved?.startsWith("http") === false ? { resolved, ...entry } : entry;
}

if (isMain(import.meta.url)) {
  const file = join(root, "package-lock.json");
  const text = readFileSync(file, "utf8");
  const next = `${JSON.stringify(completed(JSON.parse(text)), null, 2)}\n`;
  if (next !== text) writeFileSync(file, next);
}
