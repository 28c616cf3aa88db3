import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  jsonParsers,
  openers,
  optionalPackages,
  roomImports,
  storeDoors,
  type Tree,
  violations,
} from "./architecture.ts";
import { scan } from "./imports.ts";
import { features } from "../src/crew/features.ts";
import { rooms } from "./rooms.ts";

const root = join(import.meta.dirname, "..");

test("the source files of the project follow every architecture rule", () => {
  const tree = realTree();
  expect(Object.keys(tree).some((file) => file.startsWith("src/core/"))).toBe(true);
  expect(violations(tree)).toEqual([]);
});

test("the sources are strict TypeScript, and the package consists of ES modules", () => {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8"));
  const { compilerOptions, include } = read("tsconfig.json");
  expect(compilerOptions).toMatchObject({ strict: true, noEmit: true, module: "nodenext", verbatimModuleSyntax: true });
  expect(include).toEqual(expect.arrayContaining(["src", "test", "examples", "scripts"]));
  expect(readFileSync(join(root, "scripts/check.mjs"), "utf8")).toMatch(/tools\.tsc, \["--noEmit"/);
  expect(read("package.json")).toMatchObject({ type: "module" });
  const unchecked = filesIn("src").filter((file) =>
    /@ts-(?:nocheck|ignore)/.test(readFileSync(join(root, file), "utf8")),
  );
  expect(unchecked).toEqual([]);
});

test("the delegation tools only delegate: they use no module of Node, no other tool, no command and no terminal", () => {
  const used = filesIn("src/facades").flatMap((file) => {
    const { code, imports } = scan(readFileSync(join(root, file), "utf8"));
    expect(code, file).not.toMatch(/\b(?:process|fetch|Buffer\.from|globalThis)\b/);
    const named = imports.filter(({ kind }) => kind !== "type").map(({ specifier }) => specifier);
    return named.map((name) => (name.startsWith(".") ? join(dirname(file), name) : name));
  });
  const others = [...new Set(used)].filter((name) => !/^src\/(?:core|modes|facades)\//.test(name));
  expect(others.toSorted()).toEqual([
    "src/runtime/async/long-timer.ts",
    "src/runtime/git/context.ts", // for the state of the repository that `parallel` shows
    "zod",
  ]);
});

test("the rooms have no cycle: each sees only rooms listed before it in its folder, or its folder's own files", () => {
  const order = Object.keys(rooms);
  for (const [room, { sees }] of Object.entries(rooms)) {
    for (const seen of sees) {
      expect(order, `${room} sees ${seen}`).toContain(seen);
      expect(order.indexOf(seen), `${room} sees ${seen}`).toBeLessThan(order.indexOf(room));
    }
  }
});

test("the table lists for a room only rooms that it uses", () => {
  const used = new Set(roomImports(realTree()));
  const listed = Object.entries(rooms).flatMap(([room, { sees }]) => sees.map((seen) => `${room} -> ${seen}`));
  expect(listed.filter((arrow) => !used.has(arrow))).toEqual([]);
});

test("the table of rooms in docs/architecture.md is the checked table (vitest -u writes it)", async () => {
  const file = join(root, "docs", "architecture.md");
  const page = readFileSync(file, "utf8");
  const rows = Object.entries(rooms).map(([room, { holds, sees }]) => {
    const short = sees.map((seen) => (seen.includes("/") ? seen.slice(seen.indexOf("/") + 1) : `${seen}/`));
    return `| \`${room}\` | ${holds} | ${short.join(", ") || "none"} |`;
  });
  const table = ["| room | holds | may see |", "|---|---|---|", ...rows].join("\n");
  const fresh = page.slice(0, page.indexOf("| room |")) + table + page.slice(page.indexOf("\n<!-- end of rooms -->"));
  await expect(fresh).toMatchFileSnapshot(file);
});

test("the table of features in docs/architecture.md is the table of the code (vitest -u writes it)", async () => {
  const file = join(root, "docs", "architecture.md");
  const page = readFileSync(file, "utf8");
  const sources = Object.keys(realTree());
  const rows = features.map(({ name, does }) => {
    const own = `/${name.replaceAll(" ", "-")}.ts`;
    const [found] = sources.filter((path) => /^src\/(runtime\/features|crew)\/[^/]+$/.test(path) && path.endsWith(own));
    return `| ${name} | ${does} | \`${found?.slice("src/".length)}\` |`;
  });
  const head = "| feature | what it does | file |\n|---|---|---|\n";
  const from = page.indexOf(head) + head.length;
  const fresh = `${page.slice(0, from)}${rows.join("\n")}\n${page.slice(page.indexOf("<!-- end of features -->"))}`;
  await expect(fresh).toMatchFileSnapshot(file);
});

test("each optional dependency of the package has a row with the files that may name it", () => {
  const { optionalDependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const optional = Object.keys({ ...optionalDependencies, ...peerDependencies });
  expect(Object.keys(optionalPackages).sort()).toEqual(optional.sort());
});

test("each file of the store that other files may import exists, and so do the listed importers", () => {
  const tree = realTree();
  const named = Object.entries(storeDoors).flatMap(([file, from]) => [
    `src/runtime/store/${file}`,
    ...(from === "all" ? [] : from),
  ]);
  expect(named.filter((file) => !(file in tree))).toEqual([]);
});

test("each file that is allowed to open others directly does so", () => {
  const tree = realTree();
  const others = Object.keys(openers).filter((file) => !/from "node:fs(?:\/promises)?"/.test(tree[file] ?? ""));
  expect(others).toEqual([]);
  expect(Object.keys(jsonParsers).filter((file) => !tree[file]?.includes("JSON.parse("))).toEqual([]);
});

test("an invented source tree that follows every rule has no problem", () => {
  expect(
    violations({
      "src/embedded.ts": "export const prompts = {} as const;",
      "src/core/plan/plan.ts": 'import type { Task } from "./task.ts";\nexport const plan = (task: Task) => task;',
      "src/core/plan/task.ts": "export type Task = { processes: number };",
      "src/modes/race.ts": 'import { plan } from "../core/plan/plan.ts";\nimport { prompts } from "../embedded.ts";',
      "src/runtime/run/run.ts":
        'import { mkdir } from "node:fs/promises";\nimport { race } from "../../modes/race.ts";',
      "src/tools/search/ripgrep.ts": 'export const load = () => import("@vscode/ripgrep");',
      "src/tools/search/grep.ts": 'import { load } from "./ripgrep.ts"; // not @vscode/ripgrep, and not process.env',
      "src/defaults.ts": 'export const tools = { grep: () => import("./tools/search/grep.ts") };',
      "src/crew.ts": 'import { tools } from "./defaults.ts";\nexport const here = process.cwd();',
      "src/index.ts": 'export { here } from "./crew.ts";',
      "src/tui/view.ts": 'import { plan } from "../core/plan/plan.ts";',
      "src/web/server.ts": 'import { here } from "../crew.ts";\nimport { page } from "./client/page.ts";',
      "src/web/client/page.ts": 'import { plan } from "../../core/plan/plan.ts";\nimport { part } from "./part.ts";',
      "src/cli/main.ts":
        'import { here } from "../crew.ts";\nconst view = () => import("../tui/view.ts");\nprocess.env.X;',
      "src/core/plan/plan.test.ts":
        'import { readFileSync } from "node:fs";\nimport { load } from "../../tools/search/ripgrep.ts";',
    }),
  ).toEqual([]);
});

describe("the check fails on", () => {
  test.each<[name: string, tree: Tree, rule: string, file: string]>([
    [
      "a command that opens the journal of a run",
      { "src/cli/runs/a.ts": 'import { readJournal } from "../../runtime/store/journal.ts";' },
      "layout",
      "src/cli/runs/a.ts",
    ],
    [
      "a surface that creates its own folder store",
      { "src/mcp/a.ts": 'const s = await import("../runtime/store/folder-store.ts");' },
      "layout",
      "src/mcp/a.ts",
    ],
    [
      "a file that contains the journal's name",
      { "src/web/a.ts": 'const file = join(folder, "journal.jsonl");' },
      "layout",
      "src/web/a.ts",
    ],
    [
      "a file that contains the name of the folder of outputs",
      { "src/runtime/run/a.ts": "const file = `${folder}/outputs`;" },
      "layout",
      "src/runtime/run/a.ts",
    ],
    [
      "a file that reads claims",
      { "src/runtime/background/a.ts": "const file = `owner.${epoch}.json`;" },
      "layout",
      "src/runtime/background/a.ts",
    ],
    [
      "core that imports runtime",
      { "src/core/plan/a.ts": 'import { b } from "../../runtime/run/b.ts";' },
      "arrow",
      "src/core/plan/a.ts",
    ],
    [
      "runtime that imports a tool",
      { "src/runtime/run/a.ts": 'import b from "../../tools/search/b.ts";' },
      "arrow",
      "src/runtime/run/a.ts",
    ],
    [
      "an upward import of a type",
      { "src/core/plan/a.ts": 'import type { B } from "../../modes/b.ts";' },
      "arrow",
      "src/core/plan/a.ts",
    ],
    ["an upward lazy import", { "src/modes/a.ts": 'await import("../crew.ts");' }, "arrow", "src/modes/a.ts"],
    [
      "an upward re-export",
      { "src/models/wires/a.ts": 'export { run } from "../../crew.ts";' },
      "arrow",
      "src/models/wires/a.ts",
    ],
    [
      "an upward import for its side effect",
      { "src/core/plan/a.ts": 'import "../../crew.ts";' },
      "arrow",
      "src/core/plan/a.ts",
    ],
    [
      "one adapter that imports another",
      { "src/tools/search/a.ts": 'import { b } from "../../models/wires/b.ts";' },
      "arrow",
      "src/tools/search/a.ts",
    ],
    [
      "one surface that imports another",
      { "src/mcp/a.ts": 'import { b } from "../a2a/b.ts";' },
      "arrow",
      "src/mcp/a.ts",
    ],
    [
      "a surface that imports the command",
      { "src/web/a.ts": 'import { b } from "../cli/b.ts";' },
      "arrow",
      "src/web/a.ts",
    ],
    [
      "a terminal view that sees more than core",
      { "src/tui/a.ts": 'import { b } from "../crew.ts";' },
      "arrow",
      "src/tui/a.ts",
    ],
    [
      "a web client that sees the server",
      { "src/web/client/a.ts": 'import { b } from "../server.ts";' },
      "room",
      "src/web/client/a.ts",
    ],
    [
      "a source that imports a test",
      { "src/core/plan/a.ts": 'import { b } from "../../../test/b.ts";' },
      "arrow",
      "src/core/plan/a.ts",
    ],
    [
      "a cycle",
      {
        "src/core/plan/a.ts": 'import { b } from "./b.ts";',
        "src/core/plan/b.ts": 'import type { C } from "./c.ts";',
        "src/core/plan/c.ts": 'export const a = () => import("./a.ts");',
      },
      "cycle",
      "src/core/plan/a.ts",
    ],
    [
      "a file that imports itself",
      { "src/core/plan/a.ts": 'import { a } from "./a.ts";' },
      "cycle",
      "src/core/plan/a.ts",
    ],
    ["node:* in core", { "src/core/plan/a.ts": 'import { join } from "node:path";' }, "node", "src/core/plan/a.ts"],
    ["a bare builtin in modes", { "src/modes/a.ts": 'import { join } from "path";' }, "node", "src/modes/a.ts"],
    [
      "a builtin's subpath in core",
      { "src/core/plan/a.ts": 'import { mkdir } from "fs/promises";' },
      "node",
      "src/core/plan/a.ts",
    ],
    ["process in core", { "src/core/plan/a.ts": "export const now = process.hrtime();" }, "node", "src/core/plan/a.ts"],
    ["Buffer in modes", { "src/modes/a.ts": "export const size = Buffer.byteLength(text);" }, "node", "src/modes/a.ts"],
    ["export *", { "src/index.ts": 'export * from "./crew.ts";' }, "export-star", "src/index.ts"],
    ["export * as", { "src/index.ts": 'export * as crew from "./crew.ts";' }, "export-star", "src/index.ts"],
    [
      "process.env in runtime",
      { "src/runtime/run/a.ts": "const home = process.env.HOME;" },
      "env",
      "src/runtime/run/a.ts",
    ],
    [
      "process.env in a template",
      { "src/runtime/run/a.ts": "const a = `x ${process.env.HOME} y`;" },
      "env",
      "src/runtime/run/a.ts",
    ],
    ['process["env"]', { "src/tools/search/a.ts": 'const home = process["env"];' }, "env", "src/tools/search/a.ts"],
    ["process.cwd() in defaults.ts", { "src/defaults.ts": "const here = process.cwd();" }, "env", "src/defaults.ts"],
    ["{ env } = process", { "src/sinks/a.ts": "const { env } = process;" }, "env", "src/sinks/a.ts"],
    [
      "env from node:process",
      { "src/tools/search/a.ts": 'import { env } from "node:process";' },
      "env",
      "src/tools/search/a.ts",
    ],
    [
      "an optional package in the wrong file",
      { "src/tools/search/grep.ts": 'const rg = () => import("@vscode/ripgrep");' },
      "optional",
      "src/tools/search/grep.ts",
    ],
    [
      "an optional package imported before it is needed",
      { "src/tools/search/ripgrep.ts": 'import { rgPath } from "@vscode/ripgrep";' },
      "optional",
      "src/tools/search/ripgrep.ts",
    ],
    [
      "a room that imports one above it",
      { "src/core/plan/a.ts": 'import { b } from "../run/b.ts";' },
      "room",
      "src/core/plan/a.ts",
    ],
    [
      "a room that imports one it does not list",
      { "src/tools/web/a.ts": 'import { b } from "../mcp/b.ts";' },
      "room",
      "src/tools/web/a.ts",
    ],
    [
      "a room that imports the type of one above it",
      { "src/runtime/async/a.ts": 'import type { B } from "../loop/b.ts";' },
      "room",
      "src/runtime/async/a.ts",
    ],
    [
      "a room that is not in the table",
      { "src/core/helpers/a.ts": "export const a = 1;" },
      "room",
      "src/core/helpers/a.ts",
    ],
    ["a file outside of all rooms", { "src/runtime/a.ts": "export const a = 1;" }, "room", "src/runtime/a.ts"],
    [
      "a folder with more than twenty files",
      Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`src/core/text/${n}.ts`, ""])),
      "crowd",
      "src/core/text",
    ],
    [
      "a name that two files export",
      { "src/core/plan/a.ts": "export type Place = 1;", "src/core/run/b.ts": "export const Place = 1;" },
      "name",
      "src/core/run/b.ts",
    ],
    [
      "a file that opens others directly",
      { "src/runtime/git/a.ts": 'import { readFile } from "node:fs/promises";' },
      "pipe",
      "src/runtime/git/a.ts",
    ],
    [
      "a file that parses JSON directly",
      { "src/runtime/git/a.ts": "export const a = JSON.parse(text);" },
      "json",
      "src/runtime/git/a.ts",
    ],
    ["a folder without a row", { "src/utils/a.ts": "export const a = 1;" }, "place", "src/utils/a.ts"],
    [
      "a path that leaves the project",
      { "test/a.test.ts": `read("${["..", "..", "shared"].join("/")}/cases.json")` },
      "outside",
      "test/a.test.ts",
    ],
  ])("%s", (_, tree, rule, file) => {
    expect(violations(tree).map((one) => [one.rule, one.file])).toEqual([[rule, file]]);
  });

  test("a cycle, and prints its path", () => {
    const [cycle] = violations({
      "src/core/plan/a.ts": 'import { b } from "./b.ts";',
      "src/core/plan/b.ts": 'import { a } from "./a.ts";',
    });
    expect(cycle?.detail).toEqual("src/core/plan/a.ts -> src/core/plan/b.ts -> src/core/plan/a.ts");
  });
});

describe("the scanner for imports", () => {
  const specifiers = (text: string): string[] => scan(text).imports.map(({ specifier }) => specifier);

  test.each([
    ["imports over several lines", 'import {\n  a,\n  type B,\n} from\n  "./a.ts";', ["./a.ts"]],
    ["imports without semicolons", "import a from \"./a.ts\"\nimport * as b from './b.ts'", ["./a.ts", "./b.ts"]],
    ["a lazy import with a template", "const a = import(`./a.ts`);", ["./a.ts"]],
    [
      "a lazy import inside a template",
      'const a = `${await import("./a.ts")} and ${{ b: `${import("./b.ts")}` }}`;',
      ["./a.ts", "./b.ts"],
    ],
    ["an import with attributes", 'import data from "./a.json" with { type: "json" };', ["./a.json"]],
    ["an inline import type", 'let a: import("./a.ts").A;', ["./a.ts"]],
  ])("recognises %s", (_, text, expected) => {
    expect(specifiers(text)).toEqual(expected);
  });

  test.each([
    ["comments", '// import "./a.ts"\n/* import "./b.ts" */'],
    ["strings", `const a = 'import "./a.ts"'; const b = "it's import('./b.ts')";`],
    ["templates", 'const a = `import "./a.ts"; \\` \\${import("./b.ts")}`;'],
    ["regular expressions", 'const a = /import "[/"]/.test(b); const c = d / e / "f";'],
    ["methods called import", 'crew.import("./a.ts");'],
    ["properties called from", 'export const a = { from: "./a.ts" };'],
  ])("does not mistake %s for imports", (_, text) => {
    expect(specifiers(text)).toEqual([]);
  });
});

function realTree(): Tree {
  const folders = ["src", "test", "examples", "bench", "scripts"];
  const files = folders.filter((folder) => existsSync(join(root, folder))).flatMap(filesIn);
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "node_modules") return [];
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesIn(path);
    return /\.(?:[mc]?[jt]sx?)$/.test(entry.name) ? [path] : [];
  });
}

test("no test replaces a module of the project", () => {
  const replaces = new RegExp(["\\bvi\\.(?:do", ")?[mM]ock\\("].join(""));
  const tests = ["src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => join(folder, file)),
  );
  expect(tests.length).toBeGreaterThan(100);
  expect(tests.filter((file) => replaces.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
});
