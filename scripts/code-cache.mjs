// @ts-check
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { PAUSE_FILE } from "./pause-file.mjs";

/**
 * Stores the compiled code of the command's largest file beside it: compiling it takes a third of the processor time of
 * a start. Node 20 caches no compiled modules, but compiled scripts, so the module becomes a small one that runs a
 * script. Another version of Node than the one of the build ignores the stored code and compiles the script. The module
 * compares a checksum, because Node ends with a fatal error when stored code is damaged.
 *
 * @param {string} dir the folder of the bundled command
 * @returns {import("./step.mjs").Done}
 */
export function cacheCode(dir) {
  const name = readdirSync(dir).find((file) => /^trunk-[\w-]+\.js$/.test(file));
  if (name === undefined) return { ok: false, output: "The bundle has no file trunk-*.js." };
  const script = name.replace(/\.js$/, ".script.js");
  const cache = name.replace(/\.js$/, ".cache");
  const { imports, exports, body } = partsOf(readFileSync(join(dir, name), "utf8"));
  writeFileSync(join(dir, script), scriptOf(imports, exports, body));
  writeFileSync(join(dir, name), moduleOf(imports, exports, script, cache));
  const output = useOnce(dir);
  if (!existsSync(join(dir, cache))) return { ok: false, output };
  if (isAccepted(join(dir, script), join(dir, cache))) return { ok: true, output: "" };
  return { ok: false, output: "Node does not accept the stored code. Its flags differ: see scripts/store-code.mjs." };
}

/** @param {string} filename @param {string} cacheFile */
function isAccepted(filename, cacheFile) {
  setFlagsFromString("--no-flush-bytecode"); // the same flag as in the generated module
  const cachedData = readFileSync(cacheFile).subarray(4);
  return new Script(readFileSync(filename, "latin1"), { filename, cachedData }).cachedDataRejected === false;
}

/** @typedef {{ from: string, names: string }} Import */
/** @typedef {{ local: string, name: string }} Export */

/**
 * Splits a module as the bundler writes it: imports at the beginning, one list of exports at the end.
 *
 * @param {string} text
 * @returns {{ imports: Import[], exports: Export[], body: string }}
 */
function partsOf(text) {
  /** @type {Import[]} */
  const imports = [];
  const withoutImports = text.replace(/^import \{ ([^}]*) \} from "([^"]*)";\n/gm, (_, names, from) => {
    imports.push({ names, from });
    return "";
  });
  const end = /\nexport \{ ([^}]*) \};\s*$/.exec(withoutImports);
  const body = end === null ? withoutImports : withoutImports.slice(0, end.index);
  if (end === null || /^(?:import|export)\b/m.test(body))
    throw new Error("The bundler writes imports or exports in a form that scripts/code-cache.mjs does not know.");
  return { imports, exports: pairsIn(end[1] ?? "").map(([local, name]) => ({ local, name })), body };
}

/** @param {string} list @returns {Array<[string, string]>} */
const pairsIn = (list) =>
  list.split(", ").map((item) => {
    const [first = "", second = first] = item.split(" as ");
    return [first, second];
  });

/**
 * The script: a function that gets what the module imports and returns what it exports. Its text is ASCII, which Node
 * reads without decoding.
 *
 * @param {Import[]} imports @param {Export[]} exports @param {string} body
 */
function scriptOf(imports, exports, body) {
  const changed = exports.filter(({ local }) => isChangedLater(body, local)).map(({ local }) => local);
  if (changed.length > 0) throw new Error(`The bundle exports variables that change: ${changed.join(", ")}`);
  const given = imports.map(
    ({ names }, at) =>
      `const { ${pairsIn(names)
        .map(([name, local]) => `${name}: ${local}`)
        .join(", ")} } = $imports[${at}];`,
  );
  const text = [
    `(function ($imports, $import, $url) { "use strict";`,
    ...given,
    body.replace(/\bimport\(/g, "$import(").replaceAll("import.meta.url", "$url"),
    `return { ${exports.map(({ local, name }) => `${name}: ${local}`).join(", ")} };`,
    "})\n",
  ].join("\n");
  return text.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** @param {string} body @param {string} local */
function isChangedLater(body, local) {
  const name = local.replaceAll("$", "\\$");
  if (!new RegExp(`^(?:let|var) ${name}\\b`, "m").test(body)) return false;
  return (body.match(new RegExp(`(?<![.\\w$])${name} (?:[-+*/|&?]{0,2}=) `, "g")) ?? []).length > 1;
}

/** @param {Import[]} imports @param {Export[]} exports @param {string} script @param {string} cache */
function moduleOf(imports, exports, script, cache) {
  return `${imports.map(({ from }, at) => `import * as i${at} from "${from}";`).join("\n")}
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
const filename = fileURLToPath(new URL("./${script}", import.meta.url));
const cacheFile = fileURLToPath(new URL("./${cache}", import.meta.url));
const stored = () => {
	try {
		const file = readFileSync(cacheFile);
		const cachedData = file.subarray(4);
		return crc32(cachedData) === file.readUInt32BE() ? { cachedData } : {};
	} catch {
		return {};
	}
};
setFlagsFromString("--no-flush-bytecode");
const script = new Script(readFileSync(filename, "latin1"), { filename, ...stored() });
globalThis[Symbol.for("subcrew.scripts")]?.push({ script, cacheFile });
const $ = script.runInThisContext()([${imports.map((_, at) => `i${at}`).join(", ")}], (id) => import(id), import.meta.url);
const { ${exports.map(({ name }, at) => `${name}: e${at}`).join(", ")} } = $;
export { ${exports.map(({ name }, at) => `e${at} as ${name}`).join(", ")} };
`;
}

/**
 * Runs tasks with the built command, so that the stored code contains the functions that a run uses: one run that ends,
 * and one that is paused while a command runs. After Ctrl-C on a busy machine there is no processor time for compiling.
 *
 * @param {string} dir
 * @returns {string} what the command printed
 */
function useOnce(dir) {
  const folder = mkdtempSync(join(tmpdir(), "subcrew-build-"));
  try {
    const [home, workspace] = [join(folder, "home"), join(folder, "workspace")];
    for (const each of [home, workspace]) mkdirSync(each);
    writeFileSync(join(workspace, "notes.md"), "# Plan\n\nThe entry point is main.\n");
    writeFileSync(join(workspace, "turns.json"), JSON.stringify([{ calls: [{ name: "bash", input: { command } }] }]));
    return RUNS.map((args) => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ["--import", new URL("./store-code.mjs", import.meta.url).href, join(dir, "main.js"), ...args],
        {
          cwd: workspace,
          encoding: "utf8",
          env: { PATH: process.env["PATH"], HOME: home, SUBCREW_HOME: join(home, "state") },
        },
      );
      return `exit code ${status}\n${stdout}${stderr}`;
    }).join("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A command during which scripts/store-code.mjs pauses the run. It ignores SIGTERM, so that SIGKILL is needed as well. */
const command = `trap '' TERM; echo > ${PAUSE_FILE}; sleep 60; true`;
const RUNS = [
  ["run", "explore", "Where is the entry point?"],
  ["parallel", "bash=one", "bash=two", "--model", "scripted:turns.json", "--permission-mode", "bypass"],
];
