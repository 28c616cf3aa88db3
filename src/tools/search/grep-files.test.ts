import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { rootOf } from "../../runtime/files/open-contained.ts";
import { grepFiles, grepWith } from "./grep-files.ts";
import { nodeSearch } from "./node-search.ts";
import { findRipgrep, ripgrep } from "./ripgrep.ts";

const files = {
  ".git/config": "needle",
  ".gitignore": "dist/\n*.log\n",
  ".env.example": "NEEDLE=1\n",
  "b.ts": "const x = 1;\nconst needle = 2;\r\nlast(needle);\n",
  "a/deep.ts": "needle\n",
  "a/a.log": "needle\n",
  "a/z.md": "# Needle\n",
  "dist/out.js": "needle\n",
  "-e.txt": "a needle\n",
  "logo.png": "needle\0",
};

const engines = { ripgrep: grepFiles, "plain Node": grepWith(nodeSearch) };

describe.each(Object.entries(engines))("grep_files with %s", (_, grep) => {
  test.each([
    [
      { pattern: "needle" },
      "-e.txt:1: a needle\na/deep.ts:1: needle\nb.ts:2: const needle = 2;\nb.ts:3: last(needle);",
    ],
    [{ pattern: "needle", path: "a" }, "a/deep.ts:1: needle"],
    [{ pattern: "needle", path: "b.ts" }, "b.ts:2: const needle = 2;\nb.ts:3: last(needle);"],
    [{ pattern: "needle", path: "dist" }, "dist/out.js:1: needle"],
    [{ pattern: "^needle", ignoreCase: true }, ".env.example:1: NEEDLE=1\na/deep.ts:1: needle"],
    [{ pattern: "2;$" }, "b.ts:2: const needle = 2;"],
    [{ pattern: "needle", glob: "*.ts" }, "a/deep.ts:1: needle\nb.ts:2: const needle = 2;\nb.ts:3: last(needle);"],
    [{ pattern: "needle", glob: "!*.ts" }, "-e.txt:1: a needle"],
    [{ pattern: "needle", glob: "a/**" }, "a/deep.ts:1: needle"],
    [{ pattern: "needle", glob: "*.log" }, '[no match for "needle"]'],
    [{ pattern: "needle = ", context: 1 }, "b.ts-1- const x = 1;\nb.ts:2: const needle = 2;\nb.ts-3- last(needle);"],
    [
      { pattern: "needle", maxResults: 1 },
      "-e.txt:1: a needle\n[only the first 1 matches: use a path, a glob or a narrower pattern]",
    ],
    [{ pattern: "needle", maxPerFile: 1, path: "b.ts" }, "b.ts:2: const needle = 2;"],
    [{ pattern: "needle", filesOnly: true }, "-e.txt: 1\na/deep.ts: 1\nb.ts: 2"],
    [
      { pattern: "needle", filesOnly: true, maxResults: 2 },
      "-e.txt: 1\na/deep.ts: 1\n[only the first 2 files: use a path, a glob or a narrower pattern]",
    ],
    [{ pattern: "const (?=n)" }, "b.ts:2: const needle = 2;"],
    [{ pattern: "(?i)^# needle" }, "a/z.md:1: # Needle"],
    [{ pattern: "-e" }, '[no match for "-e"]'],
    [{ pattern: "no such thing" }, '[no match for "no such thing"]'],
  ])("%j", async (input, answer) => {
    expect(await callTool(grep, tempFolder(files), input)).toEqual(answer);
  });

  test("ignore rules above the searched folder apply", async () => {
    const cwd = tempFolder({
      ".git/HEAD": "",
      ".gitignore": "gen/\n*.log\n",
      "p/q/gen/x": "needle",
      "p/q/a.log": "needle",
      "p/q/a.ts": "needle",
      "p/.gitignore": "b.ts",
      "p/q/b.ts": "needle",
    });
    const plain = tempFolder({
      ".gitignore": "gen/\n*.log\n",
      "p/q/gen/x": "needle",
      "p/q/a.log": "needle",
      "p/q/a.ts": "needle",
      "p/.gitignore": "b.ts",
      "p/q/b.ts": "needle",
    });
    for (const each of [cwd, plain])
      expect(await callTool(grep, each, { pattern: "needle", path: "p/q" })).toEqual("p/q/a.ts:1: needle");
    expect(await callTool(grep, join(cwd, "p"), { pattern: "needle" })).toEqual("q/a.ts:1: needle");
  });

  test("separate matches are divided by a line, adjacent matches are not", async () => {
    const cwd = tempFolder({ "a.txt": "x\n1\n2\n3\n4\nx\n5\nx\n" });
    expect(await callTool(grep, cwd, { pattern: "x", context: 1 })).toEqual(
      ["a.txt:1: x", "a.txt-2- 1", "--", "a.txt-5- 4", "a.txt:6: x", "a.txt-7- 5", "a.txt:8: x"].join("\n"),
    );
  });

  test("a very long line is cut", async () => {
    const cwd = tempFolder({ "min.js": `${"x".repeat(100_000)}needle\n` });
    expect(await callTool(grep, cwd, { pattern: "needle" })).toEqual(`min.js:1: ${"x".repeat(400)}...`);
  });

  test("an invalid pattern is explained", async () => {
    const cwd = tempFolder(files);
    await expect(callTool(grep, cwd, { pattern: "foo(" })).rejects.toThrow(
      /^the pattern cannot be read \(.*\): put a backslash before/,
    );
    await expect(callTool(grep, cwd, { pattern: "a\nb" })).rejects.toThrow("the pattern contains a line break");
    await expect(callTool(grep, cwd, { pattern: "x", path: "bb.ts" })).rejects.toThrow(
      "Similar names in the working folder: b.ts",
    );
  });

  test("PATH-01, 02, 10: a search stays inside of the folder", async () => {
    const all = tempFolder({ "out/secret.txt": "canary", "ws/a.txt": "nothing" });
    const cwd = join(all, "ws");
    symlinkSync(join(all, "out"), join(cwd, "d"));
    symlinkSync("../out/secret.txt", join(cwd, "l"));
    symlinkSync("/", join(cwd, "root"));
    symlinkSync("loop", join(cwd, "loop"));
    expect(await callTool(grep, cwd, { pattern: "canary" })).toEqual('[no match for "canary"]');
    for (const path of ["d", "l", "../out", join(all, "out"), "root"]) {
      await expect(callTool(grep, cwd, { pattern: "canary", path })).rejects.toThrow("outside of the working folder");
    }
  });

  test("PATH-07: pipes do not block a search", async () => {
    const cwd = tempFolder({ "a.txt": "needle" });
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    const start = performance.now();
    expect(await callTool(grep, cwd, { pattern: "needle" })).toEqual("a.txt:1: needle");
    await expect(callTool(grep, cwd, { pattern: "needle", path: "pipe" })).rejects.toThrow("not a regular file");
    expect(performance.now() - start).toBeLessThan(30_000); // no process ever writes into the pipe
  });

  test("a search with a hostile pattern ends", async () => {
    const cwd = tempFolder({ "a.txt": `${"a".repeat(60)}!\n` });
    const start = performance.now();
    await callTool(grep, cwd, { pattern: "^(a+)+$" }).catch((error: unknown) =>
      expect(String(error)).toContain("takes too long"),
    );
    await callTool(grep, cwd, { pattern: "^(?=(a+)+$)" }).catch((error: unknown) =>
      expect(String(error)).toContain("takes too long"),
    );
    expect(performance.now() - start).toBeLessThan(60_000); // without a limit it would take years
  });

  test("an abort ends the search", async () => {
    const signal = AbortSignal.abort(new Error("stopped by the user"));
    await expect(callTool(grep, tempFolder(files), { pattern: "needle" }, { signal })).rejects.toThrow(
      "stopped by the user",
    );
  });

  test("a result of more than 50 KB is cut", async () => {
    const cwd = tempFolder({ "a.txt": `${"x".repeat(399)}\n`.repeat(500) });
    const text = await callTool(grep, cwd, { pattern: "x", maxResults: 1_000 });
    expect(Buffer.byteLength(text)).toBeLessThan(51_300);
    expect(text).toMatch(/\[cut at 50 KB: .*\]$/);
  });
});

test("a ripgrep in the project's own folder is never started", async () => {
  const all = tempFolder({ "ws/node_modules/.bin/rg": "#!/bin/sh\ntouch pwned\n" });
  const root = await rootOf(join(all, "ws"));
  chmodSync(join(all, "ws/node_modules/.bin/rg"), 0o755);
  symlinkSync(join(all, "ws/node_modules/.bin"), join(all, "bin"));
  mkdirSync(join(all, "good"));
  copyFileSync("/bin/true", join(all, "good/rg"));
  const path = ["node_modules/.bin", join(all, "ws/node_modules/.bin"), join(all, "bin"), join(all, "good")].join(":");
  expect(await findRipgrep({ env: { PATH: path }, root })).toEqual(join(all, "good/rg"));
});

test("a ripgrep that does not start is replaced by the built-in search", async () => {
  const all = tempFolder({ "bin/rg": "not a program", "ws/a.txt": "needle" });
  chmodSync(join(all, "bin/rg"), 0o755);
  expect(
    await callTool(grepFiles, join(all, "ws"), { pattern: "needle" }, { env: { PATH: join(all, "bin") } }),
  ).toEqual("a.txt:1: needle");
});

test("ripgrep's configuration and the environment have no effect", async () => {
  const cwd = tempFolder({
    "a.txt": "Needle",
    rc: "--ignore-case\n--pre=./evil\n",
    ".rgignore": "a.txt",
    ".ignore": "a.txt",
  });
  const env = { RIPGREP_CONFIG_PATH: join(cwd, "rc") };
  expect(await callTool(grepFiles, cwd, { pattern: "needle", glob: "*.txt" }, { env })).toEqual(
    '[no match for "needle"]',
  );
  expect(await callTool(grepFiles, cwd, { pattern: "Needle" }, { env })).toEqual("a.txt:1: Needle");
});

test("results are read from the file that was checked, not from the search output", async () => {
  const all = tempFolder({ "out/secret.txt": "canary", "ws/a.txt": "fine" });
  symlinkSync("../out/secret.txt", join(all, "ws/l"));
  const lying = grepWith(async function* () {
    yield { path: "l", line: 1 };
    yield { path: "../out/secret.txt", line: 1 };
    yield { path: "a.txt", line: 1 };
  });
  expect(await callTool(lying, join(all, "ws"), { pattern: "x" })).toEqual("a.txt:1: fine");
});

test("stopping a search early ends its process", async () => {
  const cwd = tempFolder();
  for (let n = 0; n < 50; n++) writeFileSync(join(cwd, `f${n}`), "x\n".repeat(5_000));
  const root = await rootOf(cwd);
  const program = await findRipgrep({ env: {}, root });
  if (program === undefined) throw new Error("the packaged ripgrep is missing");
  const query = {
    root,
    start: { path: "", ignore: undefined },
    isFile: false,
    pattern: "x",
    ignoreCase: false,
    perFile: 9_999,
    env: {},
  };
  for await (const hit of ripgrep({ ...query, program, goesUp: false }, new AbortController().signal)) {
    expect(hit).toEqual({ path: "f0", line: 1 });
    break;
  }
});

describe("a folder that is replaced by a link while ripgrep searches", () => {
  /** ripgrep, whose first start finds the folder `d` replaced by a link to `out`; afterwards the folder is back. */
  async function swapping(cwd: string, out: string): Promise<string> {
    const real = await findRipgrep({ env: process.env, root: await rootOf(cwd) });
    const program = join(tempFolder(), "rg");
    const d = join(cwd, "d");
    writeFileSync(
      program,
      `#!/bin/sh\n[ -e "$0.done" ] && exec "${real}" "$@"\ntouch "$0.done"; mv "${d}" "${d}.away"; ln -s "${out}" "${d}"\n"${real}" "$@"\ncode=$?; rm "${d}"; mv "${d}.away" "${d}"; exit $code\n`,
    );
    chmodSync(program, 0o755);
    return program;
  }

  test.each([{ filesOnly: true }, { filesOnly: false }])("its target cannot be searched: %j", async (more) => {
    const cwd = tempFolder({ "d/key": "inside\nline 2\n", "d/own": "secret-1\n" });
    const out = tempFolder({ key: "\nsecret-1\n", own: "x\n", other: "secret-2\n" });
    const program = await swapping(cwd, out);
    const grep = grepWith((query, signal) => ripgrep({ ...query, program, goesUp: false }, signal));
    expect(await callTool(grep, cwd, { pattern: "secret", path: "d", ...more })).toEqual(`[no match for "secret"]`);
    const found = more.filesOnly ? "d/own: 1" : "d/own:1: secret-1";
    expect(await callTool(grep, cwd, { pattern: "secret", path: "d", ...more })).toEqual(found);
  });
});
