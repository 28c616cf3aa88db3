import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { READ_ONLY_TOOLS } from "../../../src/core/vocabulary/tool-names.ts";
import { loadAgentsFromDir } from "../../../src/compat/omp/discover-agents.ts";
import { ownDialect } from "../../../src/formats/dialects/own.ts";
import { dialects } from "../../../src/formats/table.ts";
import { type Discovery, discover, findAgent, type Trust } from "../../../src/runtime/discovery/discover.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const good = (name: string, more = ""): string => `---\nname: ${name}\ndescription: d\n${more}---\nBody\n`;
const everything: Trust = { project: () => true };
const PLACE = ".claude/agents";

/** Files in a user's directory, next to a valid one. */
async function userFiles(files: Readonly<Record<string, string>>): Promise<Discovery> {
  const home = tempFolder({ [`${PLACE}/zz-fine.md`]: good("fine") });
  mkdirSync(join(home, PLACE), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, PLACE, name), text, "latin1");
  return discover({ cwd: "/nowhere/project", home, dialects });
}

const namesIn = ({ agents }: Discovery): string[] => agents.map(({ name }) => name);
const codesIn = ({ skipped }: Discovery): string[] =>
  skipped.flatMap(({ problems }) => problems.map(({ code }) => code));

function bomb(): string {
  let text = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (const [from, to] of ["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"] as const) {
    text += `${to}: &${to} [${Array.from({ length: 9 }, () => `*${from}`).join(",")}]\n`;
  }
  return text;
}

describe("a hostile file is refused quickly and does not hide another one", () => {
  const big = "x".repeat(70_000);
  const keys = Array.from({ length: 1001 }, (_, index) => `k${index}: 1`).join("\n");
  test.each<[id: string, what: string, text: string, code: string]>([
    ["PARSE-01", "aliases that grow exponentially", good("bad", bomb()), "bad-yaml"],
    [
      "PARSE-01",
      "a few aliases that grow exponentially",
      good("bad", bomb().replaceAll(/(\*\w,){6}/g, "")),
      "bad-yaml",
    ],
    ["PARSE-02", "long frontmatter", good("bad", `x: ${big}\n`), "bad-yaml"],
    ["PARSE-02", "a long file", `${good("bad")}${"x".repeat(1_100_000)}`, "too-big"],
    ["PARSE-02", "10 MB of frontmatter", good("bad", `x: ${"y".repeat(10_000_000)}\n`), "too-big"],
    ["PARSE-02", "deep nesting", good("bad", `x: ${"[".repeat(65)}${"]".repeat(65)}\n`), "bad-yaml"],
    ["PARSE-02", "too many keys", good("bad", `${keys}\n`), "bad-yaml"],
    ["PARSE-03", "JavaScript", `---js\n{ name: process.exit(1) }\n---\n`, "not-yaml"],
    ["PARSE-05", "a duplicate key", good("bad", "tools: Read\ntools: Bash\n"), "duplicate-key"],
    ["PARSE-05", "two names", good("bad", "name: other\n"), "duplicate-key"],
    ["PARSE-08", "UTF-16", "\xff\xfe-\0-\0-\0", "not-text"],
    ["PARSE-08", "Latin-1", good("bad", "x: \xe9\xe8\n"), "not-text"],
    ["PARSE-08", "NUL", good("bad", "x: \0\n"), "not-text"],
    ["PARSE-08", "nothing", "", "no-frontmatter"],
    ["PARSE-08", "frontmatter without an end", "---\nname: bad\ndescription: d\n", "no-frontmatter"],
  ])("%s %s", async (_id, _what, text, code) => {
    const start = performance.now();
    const found = await userFiles({ "bad.md": text });
    expect(performance.now() - start).toBeLessThan(60_000); // growing aliases would otherwise use up all time and memory
    expect(namesIn(found)).toEqual(["fine"]);
    expect(codesIn(found)).toEqual([code]);
  });
});

test("PARSE-03 a YAML tag constructs nothing: the file is read as text or not at all", async () => {
  const found = await userFiles({ "bad.md": good("bad", "x: !!js/function 'return 1'\ntools: Read\n") });
  expect(findAgent(found, "bad")?.read.raw["x"]).toEqual(expect.any(String));
});

test("PARSE-04 keys such as __proto__ are plain keys, and no field comes from a prototype", async () => {
  const found = await userFiles({
    "bad.md": good(
      "bad",
      "__proto__: { tools: [bash], polluted: true }\nconstructor: { prototype: { polluted: true } }\nx: { __proto__: { y: 1 } }\n",
    ),
  });
  const bad = findAgent(found, "bad")!;
  expect(bad.agent.tools).toBeUndefined();
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(Object.keys(bad.read.raw)).toContain("__proto__");
  expect(bad.problems.map(({ message }) => message)).toEqual([
    '"__proto__", "constructor", "x" are not keys of this kind of file; they have no effect.',
  ]);
});

test("PARSE-05 a merge key gives the same tools as in other YAML parsers", async () => {
  const found = await userFiles({ "bad.md": good("bad", "base: &b { tools: [bash] }\n<<: *b\n") });
  expect(findAgent(found, "bad")?.agent.tools).toEqual(["bash"]);
  expect(findAgent(found, "bad")?.problems.map(({ message }) => message)).toEqual([
    '"base" is not a key of this kind of file; it has no effect.',
  ]);
});

describe("PARSE-06 the forms of the tools key", () => {
  test.each<[written: string, tools: readonly string[] | undefined]>([
    ["", undefined],
    ["tools: Read, Grep", ["read_file", "grep_files"]],
    ["tools: [Read, Grep]", ["read_file", "grep_files"]],
    ["tools: [[Read], [Grep, [Glob]]]", ["read_file", "grep_files", "glob"]],
    ["tools: { read: true, bash: false }", ["read_file"]],
    ["tools: { write: false }", []],
    ['tools: { "*": false, read: true }', ["read_file"]],
    ["tools: '*'", ["*"]],
    ["tools: ['*']", ["*"]],
    ["tools:", []],
    ["tools: null", []],
    ["tools: ''", []],
    ["tools: ' , '", []],
    ["tools: []", []],
    ["tools: 5", []],
    ["tools: true", []],
    ["tools: false", []],
    ["tools: nonsense", ["nonsense"]],
    ["tools: Read Grep", ["read_file", "grep_files"]],
    ["TOOLS: Read", ["read_file"]],
    ["Tools: Read", ["read_file"]],
    ["allowed-tools: Read", ["read_file"]],
    ["tools: Read\nallowedTools: Read, Bash", ["read_file"]],
  ])("%s", async (written, tools) => {
    const found = await userFiles({ "a.md": good("a", written === "" ? "" : `${written}\n`) });
    expect(findAgent(found, "a")?.agent.tools).toEqual(tools);
  });

  test("a record that switches tools off removes them", async () => {
    const found = await userFiles({ "a.md": good("a", "tools: { write: false, bash: false, read: true }\n") });
    expect(findAgent(found, "a")?.agent.disallowedTools).toEqual(["write_file", "bash"]);
  });
});

describe("PARSE-07 invalid YAML never gives more tools than its tools line names", () => {
  const broken = "description: Use it when: something: else\n";
  test.each<[what: string, frontmatter: string, tools: readonly string[] | undefined]>([
    ["a tools line", `name: a\n${broken}tools: Read, Grep\n`, ["read_file", "grep_files"]],
    ["a list", `name: a\n${broken}tools:\n  - Read\n`, ["read_file"]],
    ["a bare star", `name: a\ndescription: d\ntools: *\n`, ["*"]],
    ["no tools, and no unreadable line", `name: a\n${broken}`, undefined],
    [
      "no tools, and an unreadable line that may have named them",
      `name: a\n${broken}      tools: Read\n`,
      READ_ONLY_TOOLS,
    ],
    ["no tools, and only single lines could be read", `? [\nname: a\ndescription: d\n`, READ_ONLY_TOOLS],
    ["an unclosed list", `name: a\n${broken}tools: [Read, Grep\n`, ["read_file", "grep_files"]],
    ["a stray indent", `name: a\n  description: d\ntools: Read\n`, ["read_file"]],
    ["a stray indent before the tools", `name: a\ndescription: d\n  tools: Read\n`, ["read_file"]],
    ["tabs", `name: a\ndescription: d\nmeta:\n\tk: v\ntools: Read\n`, ["read_file"]],
    ["text over several lines", `name: a\ndescription: one: two\nthree four\n<example>\ntools: Read\n`, ["read_file"]],
    ["unreadable tools", `name: a\n${broken}tools: {{{\n`, []],
    ["unknown tools", `name: a\n${broken}tools: whatever\n`, ["whatever"]],
    ["an empty list on purpose", `name: a\n${broken}tools: []\n`, []],
    ["hyphenated deny-list", `name: a\ndescription: "x" y\nfoo: ]\ndisallowed-tools: Bash\n`, undefined],
  ])("%s", async (_what, frontmatter, tools) => {
    const found = await userFiles({ "a.md": `---\n${frontmatter}---\nBody\n` });
    const a = findAgent(found, "a")!;
    expect(a.agent.tools).toEqual(tools);
    expect(a.read.recovered).toBe(true);
    expect(a.problems.some(({ code }) => code === "repaired" || code === "recovered")).toBe(true);
  });
});

test("PARSE-08 a byte order mark, CRLF and a missing last newline do no harm", async () => {
  const { agents } = ownDialect.read("\ufeff---\r\nname: a\r\ndescription: d\r\ntools: Read\r\n---\r\nOne\r\nTwo", {
    file: "a.md",
    relative: "a.md",
  });
  expect(agents[0]?.agent).toMatchObject({ name: "a", tools: ["read_file"], instructions: "One\nTwo" });
});

describe("an untrusted project", () => {
  test("is listed, but its agents neither run nor shadow others; a link out of it is not read", async () => {
    const root = tempFolder({
      "outside.md": good("outside", "tools: Bash\n"),
      "home/.claude/agents/x.md": good("x"),
      "project/.claude/agents/x.md": good("x", "tools: Bash\n"),
      "project/.claude/agents/real.md": good("real"),
    });
    symlinkSync(join(root, "outside.md"), join(root, `project/${PLACE}/out.md`));
    symlinkSync("real.md", join(root, `project/${PLACE}/in.md`));
    const where = { cwd: join(root, "project"), home: join(root, "home"), dialects };
    const untrusted = await discover(where);
    expect(namesIn(untrusted)).toEqual(["x"]);
    expect(untrusted.untrusted.map(({ name, trusted }) => [name, trusted])).toEqual([
      ["real", false],
      ["real", false],
      ["x", false],
    ]);
    expect(codesIn(untrusted)).toEqual(["link-outside"]);
    const trusted = await discover({ ...where, trust: everything });
    expect(namesIn(trusted)).toEqual(["real", "outside", "x"]);
    expect(findAgent(trusted, "outside")?.real).toBe(join(root, "outside.md"));
    expect(findAgent(trusted, "user:x")?.agent.source?.kind).toBe("user");
  });

  test("is not read through a directory that leads out of it", async () => {
    const root = tempFolder({ "elsewhere/a.md": good("a"), "project/.claude/keep": "" });
    symlinkSync(join(root, "elsewhere"), join(root, "project/.claude/agents"));
    const where = { cwd: join(root, "project"), home: "/nowhere", dialects };
    expect(codesIn(await discover(where))).toEqual(["link-outside"]);
    expect(namesIn(await discover({ ...where, trust: everything }))).toEqual(["a"]);
  });

  test("TRUST-03 TRUST-12 a file that changed since it was trusted is not used", async () => {
    const cwd = tempFolder({ [`${PLACE}/a.md`]: good("a") });
    const agreed = new Set<string>();
    const where = { cwd, home: "/nowhere", dialects };
    await discover({ ...where, trust: { project: () => true, file: ({ hash }) => agreed.add(hash).size > 0 } });
    const trust: Trust = { project: () => true, file: ({ hash }) => agreed.has(hash) };
    expect(namesIn(await discover({ ...where, trust }))).toEqual(["a"]);
    writeFileSync(join(cwd, PLACE, "a.md"), good("a", "tools: Bash\n"));
    const changed = await discover({ ...where, trust });
    expect([namesIn(changed), changed.untrusted.map(({ name }) => name)]).toEqual([[], ["a"]]);
  });

  test("TRUST-04 trust is requested for the innermost repository, not for the repository around it", async () => {
    const root = tempFolder({
      "outer/.git/HEAD": "",
      [`outer/${PLACE}/outer.md`]: good("outer"),
      "outer/vendor/inner/.git": "gitdir: elsewhere",
      [`outer/vendor/inner/src/${PLACE}/inner.md`]: good("inner"),
    });
    const asked: string[] = [];
    const trust: Trust = { project: (path) => asked.push(path) > 0 && path === join(root, "outer") };
    const found = await discover({ cwd: join(root, "outer/vendor/inner/src"), home: "/nowhere", dialects, trust });
    expect(asked).toEqual([join(root, "outer/vendor/inner")]);
    expect(namesIn(found)).toEqual([]);
  });
});

describe("TRUST-07 a base is never less trusted than the agent that extends it", () => {
  test("a user's agent takes the user's base, not the project's of the same name", async () => {
    const root = tempFolder({
      "home/.claude/agents/base.md": good("base", "tools: Read\n"),
      "home/.pi/agent/agents/kid.md": good("kid", "extends: base\n"),
      "project/.pi/agents/base.md": good("base", "tools: Bash\n"),
      "project/.pi/agents/own.md": good("own", "extends: base\ntools: Grep\n"),
    });
    const found = await discover({ cwd: join(root, "project"), home: join(root, "home"), dialects, trust: everything });
    expect(findAgent(found, "kid")?.agent.tools).toEqual(["read_file"]);
    expect(findAgent(found, "own")?.agent.tools).toEqual(["bash", "grep_files"]);
  });

  test("an agent whose base is missing is left out, and it hides no other agent", async () => {
    const root = tempFolder({
      "home/.pi/agent/agents/lost.md": good("lost", "extends: ghost\n"),
      "home/.pi/agent/agents/ring.md": good("ring", "extends: ring\n"),
      "home/.claude/agents/lost.md": good("lost"),
    });
    const found = await discover({ cwd: "/nowhere/p", home: join(root, "home"), dialects });
    expect(namesIn(found)).toEqual(["lost"]);
    expect(codesIn(found)).toEqual(["unknown-base", "inheritance-cycle"]);
  });

  test("an agent that extends its own name extends the definition that it shadows", async () => {
    const root = tempFolder({
      "home/.pi/agent/agents/a.md": good("a", "extends: a\ntools: Grep\n"),
      "home/.claude/agents/a.md": good("a", "tools: Read\nmodel: m\n"),
    });
    const found = await discover({ cwd: "/nowhere/p", home: join(root, "home"), dialects });
    expect(found.agents[0]?.agent).toMatchObject({ tools: ["read_file", "grep_files"], model: "m" });
  });
});

test("TRUST-09 paths in a plugin's manifest cannot leave the plugin", async () => {
  const root = tempFolder({
    "plugin/.claude-plugin/plugin.json": '{"agents":["../outside","./more"]}',
    "plugin/more/in.md": good("in"),
    "outside/out.md": good("out"),
  });
  const registry = {
    version: 2,
    plugins: { "p@m": [{ installPath: join(root, "plugin") }, { installPath: "../outside" }] },
  };
  const home = tempFolder({ ".claude/plugins/installed_plugins.json": JSON.stringify(registry) });
  const found = await discover({ cwd: "/nowhere/p", home, dialects });
  expect(namesIn(found)).toEqual(["in"]);
  expect(findAgent(found, "p:in")?.agent.source).toMatchObject({ kind: "plugin", plugin: "p" });
});

describe("TRUST-10 invisible characters", () => {
  test.each([
    ["bidirectional", "\u202e"],
    ["zero width", "\u200b"],
    ["tags", "\u{e0041}"],
    ["escape", "\u001b[31m"],
  ])(
    "%s: reported with its position, and not loaded from a project without an explicit approval",
    async (_what, character) => {
      const text = `---\nname: a\ndescription: d\n---\nOne\nTwo ${character}three\n`;
      const cwd = tempFolder({ [`${PLACE}/a.md`]: text });
      const where = { cwd, home: "/nowhere", dialects };
      const found = await discover({ ...where, trust: everything });
      expect(namesIn(found)).toEqual([]);
      expect(found.untrusted[0]?.problems).toMatchObject([{ code: "hidden-characters", line: 6 }]);
      const yes = await discover({ ...where, trust: { project: () => true, file: ({ hidden }) => hidden } });
      expect(namesIn(yes)).toEqual(["a"]);
    },
  );

  test("joined emoji, and letters of all languages, do not count as hidden", async () => {
    const cwd = tempFolder({ [`${PLACE}/a.md`]: good("a", "x: 👨‍💻 naïve 日本語 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ✔️\n") });
    expect(namesIn(await discover({ cwd, home: "/nowhere", dialects, trust: everything }))).toEqual(["a"]);
  });
});

test("TRUST-11 a directory full of junk still gives its valid files, in order, and each skipped file has a reason", async () => {
  const home = tempFolder();
  const dir = join(home, PLACE);
  mkdirSync(dir, { recursive: true });
  for (let index = 0; index < 5000; index++)
    writeFileSync(join(dir, `g${String(index).padStart(4, "0")}.md`), good(`g${index}`));
  writeFileSync(join(dir, "a-yaml.md"), "---\n: [\n---\n");
  writeFileSync(join(dir, "a-huge.md"), "");
  truncateSync(join(dir, "a-huge.md"), 2 ** 30);
  execFileSync("mkfifo", [join(dir, "a-pipe.md")]);
  symlinkSync("a-loop.md", join(dir, "a-loop.md"));
  symlinkSync(".", join(dir, "a-self"));
  writeFileSync(join(dir, ".hidden.md"), good("hidden"));
  writeFileSync(join(dir, "notes.txt"), "x");
  mkdirSync(join(dir, "a-directory.md"));
  const found = await discover({ cwd: "/nowhere/p", home, dialects });
  expect(found.agents).toHaveLength(5000);
  expect(found.agents.slice(0, 3).map(({ name }) => name)).toEqual(["g0", "g1", "g2"]);
  const skipped = found.skipped.map(({ file, problems }) => [file?.slice(dir.length + 1), problems[0]?.code]);
  expect(skipped).toEqual([
    ["a-huge.md", "too-big"],
    ["a-loop.md", "unreadable"],
    ["a-pipe.md", "unreadable"],
    ["a-yaml.md", "bad-yaml"],
  ]);
});

test("files that begin with _ are drafts in subcrew's own directories and in Gemini's, and nowhere else", async () => {
  const home = tempFolder({
    ".subcrew/agents/_a.md": good("a"),
    ".gemini/agents/_b.md": good("b"),
    ".claude/agents/_c.md": good("c"),
  });
  expect(namesIn(await discover({ cwd: "/nowhere/p", home, dialects }))).toEqual(["c"]);
});

test("a missing directory is empty; an unreadable directory counts as empty with a warning; other directories are read", async () => {
  const root = tempFolder({
    "home/.omp/agent/agents/lost.md": good("lost"),
    "home/.claude/agents/closed/lost.md": good("lost"),
    "home/.claude/agents/open/found.md": good("found"),
    "home/.gemini/agents/fine.md": good("fine"),
  });
  const closed = ["home/.omp/agent/agents", "home/.claude/agents/closed"].map((path) => join(root, path));
  chmodSync(root, 0o755);
  for (const path of closed) chmodSync(path, 0o000);
  const isRoot = process.getuid?.() === 0; // root can read every directory
  try {
    if (isRoot) process.seteuid!(65_534);
    const found = await discover({ cwd: "/nowhere/project", home: join(root, "home"), dialects });
    expect(namesIn(found)).toEqual(["found", "fine"]);
    const told = found.sources.map(({ family, files, problem }) => [family, files, problem?.code, problem?.file]);
    expect(told).toEqual([
      ["omp", 0, "unreadable", closed[0]],
      ["claude", 1, "unreadable", closed[1]],
      ["gemini", 1, undefined, undefined],
    ]);
    expect(loadAgentsFromDir(closed[0]!, "user")).toEqual([]);
  } finally {
    if (isRoot) process.seteuid!(0);
    for (const path of closed) chmodSync(path, 0o755);
  }
  expect((await discover({ cwd: "/nowhere/project", home: join(root, "missing"), dialects })).sources).toEqual([]);
});
