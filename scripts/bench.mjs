// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { install, npm } from "./install.mjs";
import { root, step } from "./step.mjs";

const folder = join(root, "bench");
const known = existsSync(folder)
  ? readdirSync(folder)
      .filter((file) => file.endsWith(".mjs"))
      .map((file) => file.slice(0, -".mjs".length))
      .sort()
  : [];
const [name, ...args] = process.argv.slice(2);
/** Benchmarks that compare with no other package (peer), so that nothing has to be installed for them. */
const withoutPeers = new Set(["capacity", "engine", "runs", "sandbox", "web"]);

if (name === undefined || !known.includes(name)) {
  process.stderr.write(`usage: npm run bench -- NAME\nbenchmarks: ${known.join(", ") || "none yet"}\n`);
  process.exitCode = 2;
} else if (install() && (await build()) && peers()) {
  const run = spawnSync(process.execPath, ["--expose-gc", join(folder, `${name}.mjs`), ...args], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = run.status ?? 1;
} else {
  process.exitCode = 1;
}

/**
 * Installs the other packages (peers) that the benchmarks compare with. They are not dependencies of subcrew; bench/
 * has its own package.json.
 */
function peers() {
  if (withoutPeers.has(name ?? "")) return true;
  const manifest = join(folder, "package.json");
  const wanted = existsSync(manifest) ? Object.keys(JSON.parse(readFileSync(manifest, "utf8")).dependencies ?? {}) : [];
  if (wanted.every((name) => existsSync(join(folder, "node_modules", name)))) return true;
  const command = existsSync(join(folder, "package-lock.json")) ? "ci" : "install";
  return step("install bench", () => npm([command, "--no-audit", "--no-fund", "--loglevel=error"], folder));
}
