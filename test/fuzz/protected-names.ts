import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createShellCommands } from "../../src/runtime/commands/commands.ts";
import { InFlight } from "../../src/runtime/commands/in-flight.ts";
import type { SandboxLevel } from "../../src/runtime/commands/probe-sandbox.ts";
import type { Tries } from "./mutate.ts";

/**
 * Spellings of protected names, as they are on the disk. The oracle knows these spellings and not the rules of the
 * program.
 */
const NAMES = [
  ...[".git", ".npmrc", ".envrc", ".claude", ".vscode", ".mcp.json", ".husky", ".gitmodules", ".bashrc"],
  ...[".GIT", ".Git", ".NPMRC", ".g\u200dit", ".gi\ufe0ft", ".\uff47it", ".claude.", ".vscode "],
];
/** Places in which files are created: some exist, some contain protected files, one name is not valid text. */
const FOLDERS = ["", "a/", "a/b/c/d/e/", "given/", "node_modules/p/", "new/x/", "$'no\\xfftext'/"];

/** A word of a script: quoted, unless it is written for the shell. */
const quoted = (path: string): string => {
  const [, folder = "", name = path] = /^(\$'[^']*'\/)?(.*)$/s.exec(path) ?? [];
  return `${folder}'${name}'`;
};

const name = fc.constantFrom(...NAMES);
const folder = fc.constantFrom(...FOLDERS);
const target = fc.tuple(folder, name).map(([where, what]) => ({ where, what, path: quoted(`${where}${what}`) }));
const makes = (where: string): string => (where === "" ? "" : `mkdir -p ${quoted(where)}; `);

/**
 * One line of a script. Most lines try to create a file or folder with a protected name, or to change an existing one;
 * the others change what is around it.
 */
const line = fc.oneof(
  target.map(({ where, path }) => `${makes(where)}mkdir ${path}`),
  target.map(({ where, path }) => `${makes(where)}echo x > ${path}`),
  target.map(({ where, path }) => `${makes(where)}ln -s /etc ${path}`),
  target.map(({ where, path }) => `${makes(where)}ln seed.txt ${path}`),
  target.map(({ where, path }) => `${makes(where)}mkfifo ${path}`),
  target.map(({ where, path }) => `${makes(where)}mkdir -p prepared/hooks; mv prepared ${path}`),
  target.map(
    ({ where, path, what }) =>
      `${makes(where)}mkdir -p t/'${what}'; tar cf t.tar -C t .; tar xf t.tar; rm -rf t; true ${path}`,
  ),
  target.map(({ where }) => `${makes(where)}git init -q ${quoted(`${where}repo`)}`),
  target.map(({ where, path }) => `${makes(where)}cp -r given ${path}`),
  fc.tuple(folder, folder).map(([from, to]) => `mv ${quoted(from || "a")} ${quoted(`${to || "m"}moved`)}`),
  target.map(({ path }) => `rm -rf ${path}; ln -s seed.txt ${path}`),
  // an existing link with a protected name must keep its target
  fc.constantFrom("rm -f given/.husky", "ln -sfn /etc given/.husky", "rm -f given/.husky; mkdir given/.husky"),
  folder.map((where) => `chmod 0311 ${quoted(where || "a")}`),
  fc.constantFrom("sleep 0.1", "rm -rf node_modules/p", "mv given gone", "echo x > given/.npmrc", "cp -r given copy"),
);

/** When and how a script is interrupted. */
const interrupt = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 400 }) },
);

export type NamesPlace = Readonly<{ folder: string; sandbox: SandboxLevel }>;

/**
 * Runs random scripts in a sandbox, interrupts some of them, and compares the protected names on the disk before and after: none
 * may be new, and none of those outside of node_modules may be gone or changed. Returns how many names were refused.
 */
export async function noNamesAreLeft(at: NamesPlace, tries: Tries): Promise<number> {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 6 }),
      fc.array(line, { minLength: 1, maxLength: 4 }),
      interrupt,
      async (first, second, ms) => {
        refused += await refusedNames(at, [first, second], ms);
      },
    ),
    { ...tries, endOnFailure: true },
  );
  return refused;
}

/** One script with every kind of file in deeper and deeper folders: random scripts create these too rarely. */
export function noNamesAreLeftBelow(at: NamesPlace, depth: number): Promise<number> {
  const kinds = ["mkdir", "touch", "ln -s /etc", "ln seed.txt", "mkfifo"];
  const lines = Array.from({ length: depth }, (_, level) => {
    const where = Array.from({ length: level + 1 }, (__, n) => `deep${n}/`).join("");
    const makes = kinds.map((make, n) => `${make} ${quoted(`${where}${NAMES[(level + n) % 9]!}`)}`);
    return [`mkdir -p ${where}`, ...makes].join("; ");
  });
  return refusedNames(at, [lines], undefined);
}

let count = 0;

/** Runs the scripts in parallel; throws if they left a protected name or changed one. Returns how many were refused. */
async function refusedNames(
  { folder: all, sandbox }: NamesPlace,
  scripts: readonly (readonly string[])[],
  ms: number | undefined,
): Promise<number> {
  const ws = join(all, `w${count++}`);
  prepare(ws);
  const before = namesIn(ws);
  const inFlight = new InFlight({ state: join(all, "state") });
  const host = createShellCommands({
    name: `fuzz-${process.pid}-${count}`,
    cwd: ws,
    writable: [ws],
    wish: "auto",
    sandbox,
    network: () => false,
    inFlight,
    rootAt: (root) => ({ root, place: "", named: "", homes: [] }),
    allow: () => [],
    homes: [],
    hidden: async () => [],
    env: () => ({ PATH: "/usr/local/bin:/usr/bin:/bin", HOME: ws, LANG: "C.UTF-8" }),
  });
  const signal = ms === undefined ? new AbortController().signal : AbortSignal.timeout(ms);
  const options = { timeoutMs: 60_000, signal, report: () => {} };
  const ended = await Promise.all(scripts.map((lines) => host.commands.run(lines.join("\n"), options)));
  await host.end();
  execFileSync("chmod", ["-R", "u+rwx", ws]); // a script may have closed a folder, which only root can read then
  const after = namesIn(ws);
  for (const [path] of after) if (!before.has(path)) throw new Error(`left behind: ${JSON.stringify(path)}`);
  for (const [path, text] of before)
    if (!path.includes("node_modules") && after.get(path) !== text) throw new Error(`changed: ${path}`);
  execFileSync("rm", ["-rf", ws]);
  return ended.flatMap(({ setAside = [] }) => setAside).length;
}

function prepare(ws: string): void {
  const files = {
    "seed.txt": "seed",
    "given/.npmrc": "old",
    "a/f.txt": "a",
    "node_modules/p/.vscode/x": "old",
    ".claude/s.json": "old",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(ws, path, ".."), { recursive: true });
    writeFileSync(join(ws, path), text);
  }
  symlinkSync("../a", join(ws, "given", ".husky"));
}

/** Every protected name on the disk, by its bytes, with its kind, size and target. */
function namesIn(ws: string): Map<string, string> {
  const listed = execFileSync("find", [ws, "-printf", "%P\\t%y %s %l\\0"], { encoding: "latin1" });
  const bytes = new Set(NAMES.map((each) => Buffer.from(each, "utf8").toString("latin1")));
  return new Map(
    listed
      .split("\0")
      .map((entry) => entry.split("\t") as [string, string])
      .filter(([path]) => bytes.has(path.slice(path.lastIndexOf("/") + 1))),
  );
}
