// @ts-check
import { posix } from "node:path";
import { entriesOf, rowsOf } from "./coverage.mjs";

/** Folders of test/ whose suites test the whole program, so that their path does not name a folder of src/. */
const shared = /^test\/(conformance|fuzz|processes|project|simulation|soak)$/;

/**
 * Fills the "where" column in the table of docs/coverage.md from its "test" column. A unit test gives the source file
 * of the same name, other suites give their folder of src/, and a suite of the whole program gives the sources that the
 * test uses (all of src/ when it uses none by name).
 *
 * @param {string} markdown
 * @param {(file: string) => string} read
 * @returns {string}
 */
export function withSources(markdown, read) {
  const rows = new Map(rowsOf(markdown).map((row) => [row.item, row]));
  return markdown
    .split("\n")
    .map((line) => {
      const row = rows.get(/^\| (\d{3}-\d{2}) \|/.exec(line)?.[1] ?? "");
      if (row === undefined || row.test.startsWith("open: ")) return line;
      const where = sourcesOf(row.test, read).map((path) => `\`${path}\``);
      const cells = line.split(/(?<!\\)\|/);
      cells[3] = ` ${where.join(", ")} `;
      return cells.join("|");
    })
    .join("\n");
}

/**
 * The source files that the tests in a cell of the table test.
 *
 * @param {string} cell
 * @param {(file: string) => string} read
 * @returns {string[]}
 */
function sourcesOf(cell, read) {
  const found = entriesOf(cell).flatMap(({ file, title }) => {
    if (!file.startsWith("test/")) return [file.replace(/\.test\.ts$/, ".ts")];
    const folder = posix.dirname(file);
    if (folder === "test/processes/docs") return ["scripts/docs/"]; // scripts write the pages of the documentation
    if (!shared.test(folder) && folder !== "test") return [`${folder.replace(/^test\/(processes\/)?/, "src/")}/`];
    return usedBy(read(file), title, folder);
  });
  return found.length === 0 ? ["src/"] : [...new Set(found)].toSorted();
}

/**
 * The sources used by the statements of a test file whose words match the title best, including use through local
 * functions.
 *
 * @param {string} text
 * @param {string} title
 * @param {string} folder
 * @returns {string[]}
 */
function usedBy(text, title, folder) {
  const { imports, statements } = read(text, folder);
  const words = title.split(/[^\w-]+/).filter((word) => word.length > 2);
  const tests = statements.filter(({ name }) => name === undefined);
  const scores = tests.map(({ body }) => words.filter((word) => body.includes(word)).length);
  const best = Math.max(...scores);
  const open = tests.filter((_, index) => scores[index] === best).map(({ body }) => body);
  const files = new Set();
  const seen = new Set();
  for (let body = open.pop(); body !== undefined; body = open.pop()) {
    for (const [word] of body.matchAll(/[A-Za-z_$][\w$]*/g)) {
      if (seen.has(word)) continue;
      seen.add(word);
      const source = imports.get(word);
      if (source !== undefined) files.add(source);
      const local = statements.find(({ name }) => name === word);
      if (local !== undefined) open.push(local.body);
    }
  }
  return [...files];
}

/**
 * @param {string} text of a formatted file: a statement begins in the first column
 * @param {string} folder
 */
function read(text, folder) {
  /** @type {Map<string, string>} */
  const imports = new Map();
  /** @type {Array<{ name?: string, body: string }>} */
  const statements = [];
  for (const body of text.split(/\n(?=[a-z])/)) {
    const [, names = "", from = ""] = /^import \{([^}]*)\} from "([^"]+)"/.exec(body) ?? [];
    const path = posix.join(folder, from);
    if (from !== "" && /^(src|scripts)\//.test(path) && !path.startsWith("src/models/scripted/")) {
      for (const each of names.split(",").map((one) => one.trim()))
        if (each !== "" && !each.startsWith("type ")) imports.set(each.replace(/^.* as /, ""), path);
    } else if (!body.startsWith("import ")) {
      const name = /^(?:export )?(?:async )?(?:function\*?|const|let|class) ([\w$]+)/.exec(body)?.[1];
      statements.push({ ...(name !== undefined && { name }), body });
    }
  }
  return { imports, statements };
}
