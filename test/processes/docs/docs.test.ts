import { execFile } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { generatedPages } from "../../../scripts/docs/pages.ts";
import { commands } from "../../../src/cli/commands.ts";
import type { CliCommand } from "../../../src/cli/base/command.ts";
import { jsonSchemaFor, type SchemaName } from "../../../src/doors/schemas.ts";
import { createValidator } from "../../../src/runtime/task/compile-schema.ts";
import { command, type Place, place } from "../command.ts";
import { type Block, blocksOf, linesOf, pages, root, textOf, wordsOf } from "./pages.ts";

const count = { run: 0, checked: 0, compiled: 0, executed: 0, data: 0 };
const left: string[] = [];
const where = ({ page, line }: Block): string => `${page}:${line}`;
const isLeft = ({ mark }: Block): boolean => /^(not run\b|checked|declaration)/.test(mark);

afterAll(() => {
  const { run, checked, compiled, executed, data } = count;
  process.stdout.write(
    `documents: ${run} command lines run, ${checked} checked, ${compiled} programs compiled, ${executed} of them run, ${data} data files checked\n${left.map((each) => `  not run here: ${each}\n`).join("")}`,
  );
});

/** The project in which the commands of a page run, as Getting started describes it. */
const project = {
  "src/login.ts": "export function checkPassword(given: string): boolean {\n  return given !== '';\n}\n",
  "src/prices.ts": "import { checkPassword } from './login.ts';\n\nexport const discount = 0.2;\nvoid checkPassword;\n",
  "README.md": "# Shop\n\nSells books. Passwords are checked in src/login.ts.\n",
};

function pagePlace(): Place {
  const made = place(project);
  const bin = join(made.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "subcrew"), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`);
  chmodSync(join(bin, "subcrew"), 0o755);
  return made;
}

type Ended = Readonly<{ code: number | null; stdout: string; stderr: string }>;

/** Runs one command line: in the shared process where it needs no shell, else in bash. */
async function runLine(line: string, { workspace, home, env, run }: Place): Promise<Ended> {
  const words = wordsOf(line);
  if (words?.[0] === "subcrew" && !words.includes("--bg")) return run(words.slice(1), { shared: true });
  return new Promise((resolve) => {
    const path = `${join(home, "bin")}:${env["PATH"] ?? ""}`;
    const child = execFile(
      "bash",
      ["-euc", line],
      { cwd: workspace, env: { ...env, PATH: path } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** Replaces text that differs from run to run. */
const steady = (text: string): string =>
  text
    .replaceAll(/run_[a-z0-9]{12}/g, "run_8k2m4x7q1z5c")
    .replaceAll(/\d+(\.\d+)?(ms| ms|s\b| s\b)/g, "1s")
    .replaceAll(/\d+(\.\d+)?k? tokens/g, "1 tokens")
    .trim();

describe.each(pages.filter((page) => blocksOf(page).some(({ language }) => language === "sh")))("%s", (page) => {
  test("the command lines of the page run as written", async () => {
    const at = pagePlace();
    let last: Ended | undefined;
    for (const block of blocksOf(page)) {
      const file = /^file: (\S+)/.exec(block.mark)?.[1];
      if (file !== undefined) {
        mkdirSync(dirname(join(at.workspace, file)), { recursive: true });
        writeFileSync(join(at.workspace, file), block.text);
      }
      if (block.mark === "output" || block.mark === "progress")
        expect({
          where: where(block),
          text: steady((block.mark === "output" ? last?.stdout : last?.stderr) ?? ""),
        }).toEqual({
          where: where(block),
          text: steady(block.text),
        });
      if (block.language !== "sh" || isLeft(block)) continue;
      const expected = Number(/^exit: (\d+)/.exec(block.mark)?.[1] ?? 0);
      for (const line of linesOf(block)) {
        last = await runLine(line, at);
        count.run += 1;
        expect({
          where: where(block),
          line,
          code: last.code,
          said: last.code === expected ? "" : last.stderr + last.stdout,
        }).toEqual({
          where: where(block),
          line,
          code: expected,
          said: "",
        });
      }
    }
  });
});

/** The mistakes in the command and the flags of a line, according to the definitions of the command. */
async function wrongWith(line: string): Promise<string | undefined> {
  const [, name = "", ...rest] = line.split(/\s+/);
  if (name === "" || name.startsWith("-") || /^[A-Z]/.test(name) || name === "help") return undefined;
  const row = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!row) return `there is no command "${name}"`;
  let definition: CliCommand = await row.load();
  for (const word of rest) {
    const inner = definition.commands?.[word];
    if (!inner) break;
    definition = inner;
  }
  const known = definition.options.flatMap(({ long, short }) => [long, short]);
  const flags =
    rest
      .join(" ")
      .replaceAll(/"[^"]*"|'[^']*'/g, "")
      .match(/(?<=\s|^)--?[a-z][\w-]*/g) ?? [];
  // `--engine` works with every command and is handled before it.
  const unknown = flags.find(
    (flag) => !known.includes(flag) && !["--help", "--all", "--version", "-h", "--engine"].includes(flag),
  );
  return unknown === undefined ? undefined : `"${name}" has no flag ${unknown}`;
}

test.each(pages)("%s names only commands and flags that exist", async (page) => {
  const fenced = blocksOf(page).flatMap((block) => {
    if (isLeft(block) && block.mark.startsWith("not run") && ["sh", "ts"].includes(block.language))
      left.push(`${where(block)}: ${block.mark.slice(8)}`);
    return ["sh", "", "text"].includes(block.language) ? linesOf(block) : [];
  });
  const prose = textOf(page).replaceAll(/^```.*?^```$/gms, "");
  const inline = Array.from(prose.matchAll(/`(subcrew [^`\n]+)`/g), ([, line = ""]) => line);
  const lines = [...fenced.flatMap((line) => line.split(/;|\||&&/).map((part) => part.trim())), ...inline];
  for (const line of lines.filter((each) => each.startsWith("subcrew "))) {
    count.checked += 1;
    expect([line, await wrongWith(line)]).toEqual([line, undefined]);
  }
});

/** Files whose schema is known by their name. */
const schemaFor = (file: string): SchemaName | undefined =>
  (["team", "plan", "config"] as const).find((name) => new RegExp(`(^|/|-)${name}\\.(ya?ml|json)$`).test(file));

test.each(pages)("%s has data that can be parsed, and files that match their schema", async (page) => {
  for (const block of blocksOf(page).filter(({ language }) => ["yaml", "json"].includes(language))) {
    const value: unknown = block.language === "json" ? JSON.parse(block.text) : parse(block.text);
    count.data += 1;
    const name = schemaFor(/^file: (\S+)/.exec(block.mark)?.[1] ?? "");
    if (name)
      expect([where(block), (await createValidator()(jsonSchemaFor(name)))(value)]).toEqual([where(block), undefined]);
  }
});

describe("the programs of the pages", () => {
  const folder = join(root, ".cache", `docs-programs-${process.pid}`);
  const programs = pages.flatMap(blocksOf).filter(({ language, mark }) => language === "ts" && mark !== "declaration");
  const fileOf = (block: Block): string => `${block.page.replaceAll(/\W/g, "-")}-${block.line}`;

  beforeAll(() => {
    mkdirSync(folder, { recursive: true });
    for (const block of programs) writeFileSync(join(folder, `${fileOf(block)}.ts`), `${block.text}\nexport {};\n`);
    const compilerOptions = {
      ...{
        target: "es2023",
        module: "nodenext",
        strict: true,
        skipLibCheck: true,
        types: ["node"],
        noEmitOnError: false,
      },
      ...{ rewriteRelativeImportExtensions: true, outDir: "out", rootDir: "." },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("compile and run", async () => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const compiled = await node([tsc, "-p", folder], root);
    expect(compiled).toEqual({ code: 0, stdout: "", stderr: "" });
    count.compiled = programs.length;
    const all = programs.filter((block) => !isLeft(block));
    const workspace = place(project).workspace;
    cpSync(join(root, "examples"), join(workspace, "examples"), { recursive: true });
    const code = all
      .map((block) => `await import(${JSON.stringify(join(folder, "out", `${fileOf(block)}.js`))});`)
      .join("\n");
    const ended = await node(["--input-type=module", "--eval", `${code}\nprocess.exit();`], workspace);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: ended.stderr });
    count.executed = all.length;
  });
});

function node(args: readonly string[], cwd: string): Promise<Ended> {
  const env = { PATH: process.env["PATH"], HOME: cwd, SUBCREW_HOME: join(cwd, ".state") };
  return new Promise((resolve) =>
    execFile(process.execPath, args, { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    ),
  );
}

/** The anchors of a page, as code hosts create them from its headings. */
const anchorsOf = (page: string): Set<string> =>
  new Set(
    Array.from(
      textOf(page)
        .replaceAll(/^```.*?^```$/gms, "")
        .matchAll(/^#+ (.+)$/gm),
      ([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
          .replaceAll(" ", "-"),
    ),
  );

test.each(pages)("the links of %s have a target", (page) => {
  const text = textOf(page)
    .replaceAll(/^```.*?^```$/gms, "")
    .replaceAll(/`[^`]*`/g, "");
  for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? page : join(dirname(page), path);
    expect([page, target, existsSync(join(root, file))]).toEqual([page, target, true]);
    if (anchor !== undefined && file.endsWith(".md"))
      expect([target, anchorsOf(file).has(anchor)]).toEqual([target, true]);
  }
});

test("the generated pages are up to date: `npm run docs` writes them", async () => {
  for (const [file, make] of Object.entries(await generatedPages(root))) {
    const text = textOf(file);
    expect(make(text) === text, `${file}: run \`npm run docs\``).toBe(true);
  }
});

test.each(pages)("the links of %s also work in the published package", (page) => {
  const { files } = JSON.parse(textOf("package.json")) as { files: readonly string[] };
  const always = ["README.md", "LICENSE", "package.json"];
  const isPacked = (file: string): boolean =>
    [...always, ...files].some((entry) =>
      entry === "docs/*.md" ? /^docs\/[^/]+\.md$/.test(file) : file === entry || file.startsWith(`${entry}/`),
    );
  const text = textOf(page)
    .replaceAll(/^```.*?^```$/gms, "")
    .replaceAll(/`[^`]*`/g, "");
  for (const [, target = ""] of text.matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g))
    if (!/^[a-z]+:/.test(target)) expect([target, isPacked(join(dirname(page), target))]).toEqual([target, true]);
});
