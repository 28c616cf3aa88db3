import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeOrigin } from "../../../src/core/vocabulary/provenance.ts";
import { readBundledAgents } from "../../../src/formats/bundled.ts";
import { dialects } from "../../../src/formats/table.ts";
import {
  createDiscoveryCache,
  type Discovery,
  discover,
  findAgent,
  qualifiedNames,
} from "../../../src/runtime/discovery/discover.ts";
import { explainFields } from "../../../src/runtime/discovery/explain.ts";
import { agentFamilies, presets } from "../../../src/runtime/discovery/sources.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const agentFile = (name: string, more = ""): string =>
  `---\nname: ${name}\ndescription: ${name} of a file\n${more}---\nBody\n`;
const namesIn = ({ agents }: Discovery): string[] => agents.map(({ name }) => name);
const trust = { project: (): boolean => true };

test("bundled agents exist without any file", async () => {
  const found = await discover({ cwd: "/nowhere/at/all", home: "/nowhere", dialects, bundled: readBundledAgents() });
  expect(namesIn(found)).toEqual(expect.arrayContaining(["explore", "general"]));
  expect(findAgent(found, "bundled:explore")?.agent.tools).toContain("grep_files");
  expect([found.problems, found.sources]).toEqual([[], []]);
});

test("an agent whose name looks like that of another agent is reported", async () => {
  const home = tempFolder({ ".claude/agents/a.md": agentFile("соdе"), ".claude/agents/b.md": agentFile("код") });
  const { problems } = await discover({ cwd: "/nowhere/p", home, dialects, bundled: readBundledAgents() });
  expect(problems.filter(({ code }) => code === "look-alike")).toEqual([
    expect.objectContaining({
      severity: "warning",
      file: join(home, ".claude/agents/a.md"),
      message: 'The name "соdе" looks like "code", but has letters of another script.',
    }),
  ]);
});

test("an invalid bundled agent is a fatal error", () => {
  expect(() => readBundledAgents({ bad: "---\nname: bad\n---\n" })).toThrow(
    expect.objectContaining({ code: "BAD_AGENT" }),
  );
  expect(() => readBundledAgents({ bad: "---\nname: bad\ndescription: a: b\n---\n" })).toThrow("damaged");
});

describe("a second discovery with the same cache", () => {
  test("reads only changed files, and reports added, removed and changed agents", async () => {
    const home = tempFolder({
      ".claude/agents/same.md": agentFile("same"),
      ".claude/agents/other.md": agentFile("other"),
      ".claude/agents/gone.md": agentFile("gone"),
    });
    const reads: string[] = [];
    const claude = dialects["claude"]!;
    const counting = {
      ...dialects,
      claude: {
        ...claude,
        read: (...args: Parameters<typeof claude.read>) => (reads.push(args[1].relative), claude.read(...args)),
      },
    };
    const options = { cwd: "/nowhere/p", home, dialects: counting, cache: createDiscoveryCache() };
    const first = await discover(options);
    expect(first.changes).toEqual({ added: [], removed: [], changed: [] });
    expect(reads.splice(0)).toEqual(["gone.md", "other.md", "same.md"]);

    writeFileSync(join(home, ".claude/agents/other.md"), agentFile("other", "model: opus\n"));
    writeFileSync(join(home, ".claude/agents/new.md"), agentFile("new"));
    rmSync(join(home, ".claude/agents/gone.md"));
    const second = await discover(options);
    expect(second.changes).toEqual({ added: ["new"], removed: ["gone"], changed: ["other"] });
    expect(reads).toEqual(["new.md", "other.md"]);
    expect(findAgent(second, "same")?.agent).toBe(findAgent(first, "same")?.agent);
  });

  test("two discovery caches are independent", async () => {
    const home = tempFolder({ ".claude/agents/a.md": agentFile("a") });
    const where = { cwd: "/nowhere/p", home, dialects };
    await discover({ ...where, cache: createDiscoveryCache() });
    expect((await discover({ ...where, cache: createDiscoveryCache() })).changes.added).toEqual([]);
  });
});

describe("options of the caller", () => {
  const layout = {
    "home/.claude/agents/x.md": agentFile("x", "model: user\n"),
    "home/.claude/agents/u.md": agentFile("u"),
    "project/.claude/agents/x.md": agentFile("x", "model: project\n"),
    "project/.claude/agents/p.md": agentFile("p"),
  };
  const where = (root: string): { cwd: string; home: string } => ({
    cwd: join(root, "project"),
    home: join(root, "home"),
  });

  test.each([
    ["user", ["u", "x"]],
    ["project", ["p", "x"]],
    ["both", ["p", "x", "u"]],
  ] as const)("scope %s", async (scope, names) => {
    const found = await discover({ ...where(tempFolder(layout)), dialects, trust, scope });
    expect(namesIn(found)).toEqual(names);
  });

  test("a disabled agent is listed, and another agent of the same name does not silently replace it", async () => {
    const found = await discover({ ...where(tempFolder(layout)), dialects, trust, disabled: ["x"] });
    expect(namesIn(found)).toEqual(["p", "u"]);
    expect(found.disabled.map(({ agent }) => agent.model)).toEqual(["project", "user"]);
  });

  test("settings override a file, and may disable an agent", async () => {
    const settings = { x: { model: "mine", limits: { maxTurns: 2 } }, p: { enabled: false } };
    const found = await discover({ ...where(tempFolder(layout)), dialects, trust, settings });
    expect(findAgent(found, "x")?.agent).toMatchObject({ model: "mine", limits: { maxTurns: 2 } });
    expect(found.disabled.map(({ name }) => name)).toEqual(["p"]);
  });

  test("an agent given by the caller has precedence over every file", async () => {
    const [inline] = readBundledAgents({ x: agentFile("x", "model: given\n") });
    const found = await discover({ ...where(tempFolder(layout)), dialects, trust, inline: [inline!] });
    expect(findAgent(found, "x")?.agent).toMatchObject({ model: "given", source: { kind: "inline" } });
  });

  test("a shadowed agent can be named by its qualified name", async () => {
    const found = await discover({ ...where(tempFolder(layout)), dialects, trust });
    expect(["x", "project:x", "user:x", "claude:x"].map((name) => findAgent(found, name)?.agent.model)).toEqual([
      "project",
      "project",
      "user",
      "project",
    ]);
    expect(found.shadowed.map(({ found: lost, by }) => [lost.agent.model, by.agent.model])).toEqual([
      ["user", "project"],
    ]);
    expect(qualifiedNames(found.agents[1]!)).toEqual(["claude:x", "project:x"]);
    expect(findAgent(found, "X")).toBeUndefined();
  });

  test("a file cannot take the qualified name of another agent", async () => {
    const root = tempFolder({
      ...layout,
      "project/.claude/agents/fake.md": agentFile("user:x", "model: fake\n"),
      "project/.claude/agents/fake2.md": agentFile("bundled:explore", "model: fake\n"),
      "project/.claude/agents/own.md": agentFile("team:lead", "model: own\n"),
    });
    const found = await discover({ ...where(root), dialects, trust, bundled: readBundledAgents() });
    expect(findAgent(found, "user:x")?.agent.model).toBe("user");
    expect(findAgent(found, "bundled:explore")?.agent.source?.kind).toBe("bundled");
    expect(findAgent(found, "project:user:x")?.agent.model).toBe("fake");
    expect(findAgent(found, "team:lead")?.agent.model).toBe("own");
  });

  test("two agents of one name in one directory give a warning; in two directories they give none", async () => {
    const root = tempFolder({ ...layout, "home/.claude/agents/y.md": agentFile("u") });
    const found = await discover({ ...where(root), dialects, trust });
    expect(found.problems.map(({ code, file }) => [code, file])).toEqual([
      ["duplicate", join(root, "home/.claude/agents/y.md")],
    ]);
  });
});

describe("the boundary of a project", () => {
  test("of each kind of agent folder the nearest one is used, up to the root of the repository", async () => {
    const root = tempFolder({
      ".claude/agents/above.md": agentFile("above"),
      "repo/.git/HEAD": "",
      "repo/.claude/agents/outer.md": agentFile("outer"),
      "repo/.omp/agents/o.md": agentFile("o"),
      "repo/sub/.claude/agents/inner.md": agentFile("inner"),
    });
    mkdirSync(join(root, "repo/sub/deep"));
    const found = await discover({ cwd: join(root, "repo/sub/deep"), home: "/nowhere", dialects, trust });
    expect(namesIn(found)).toEqual(["o", "inner"]);
  });

  test("the home directory is never a project", async () => {
    const home = tempFolder({ ".claude/agents/a.md": agentFile("a"), "work/notes.txt": "" });
    for (const cwd of [home, join(home, "work")]) {
      const found = await discover({ cwd, home, dialects });
      expect(found.sources.map(({ scope }) => scope)).toEqual(["user"]);
      expect(namesIn(found)).toEqual(["a"]);
    }
  });
});

describe("presets", () => {
  const everywhere = Object.fromEntries(
    [
      "omp/agent/agents",
      "claude/agents",
      "codex/agents",
      "gemini/agents",
      "gen/agents",
      "pi/agent/agents",
      "subcrew/agents",
    ].map((place) => {
      const name = place.split("/")[0]!;
      return [`home/.${place}/${name}.md`, agentFile(name)];
    }),
  );
  test.each([
    ["omp", ["omp", "claude", "codex", "gemini"]],
    ["mycode", ["gen", "claude"]],
    ["pi-parallel", ["pi"]],
    ["gemini", ["gemini"]],
    ["pegasus", []],
    ["unified", ["subcrew", "omp", "pi", "gen", "claude", "gemini"]],
  ] as const)("%s looks in the same places as its system", async (preset, names) => {
    const root = tempFolder(everywhere);
    const found = await discover({ cwd: root, home: join(root, "home"), dialects, preset });
    expect(namesIn(found)).toEqual(names);
  });

  test("a SUBAGENT.md in a folder of the built-in or the user's root defines a type", async () => {
    const root = tempFolder({
      "subagents/dig/SUBAGENT.md": agentFile("dig"),
      "data/subagents/own/SUBAGENT.md": agentFile("own"),
      "home/.subcrew/subagents/mine/SUBAGENT.md": agentFile("mine"),
      "subagents/loose.md": agentFile("loose"),
      "subagents/empty/README.md": agentFile("empty"),
    });
    for (const preset of ["pegasus", "unified"] as const) {
      const found = await discover({ cwd: root, home: join(root, "home"), dialects, preset, trust });
      expect(namesIn(found).toSorted()).toEqual(["dig", "mine", "own"]);
    }
  });

  test("a SUBAGENT.md whose name is not that of its folder is refused, and the others are found", async () => {
    const home = tempFolder({
      ".subcrew/subagents/dig/SUBAGENT.md": agentFile("digger"),
      ".subcrew/subagents/fill/SUBAGENT.md": agentFile("fill"),
      ".subcrew/subagents/water/SUBAGENT.md": "---\ndescription: d\n---\nWater.\n",
      ".subcrew/subagents/weed/SUBAGENT.md": "Weed.\n",
    });
    for (const preset of ["pegasus", "unified"] as const) {
      const found = await discover({ cwd: "/nowhere", home, dialects, preset });
      expect(namesIn(found)).toEqual(["fill", "water", "weed"]);
      expect(found.skipped.map(({ file, problems: [wrong] }) => [file, wrong?.message, wrong?.hint])).toEqual([
        [
          join(home, ".subcrew/subagents/dig/SUBAGENT.md"),
          'The name "digger" is not the name of its folder "dig".',
          "Write `name: dig`, or rename the folder.",
        ],
      ]);
    }
  });

  test("gemini gives no tools to an agent that lists none", async () => {
    const root = tempFolder(everywhere);
    const found = await discover({ cwd: root, home: join(root, "home"), dialects, preset: "gemini" });
    expect(found.agents[0]).toMatchObject({ agent: { tools: [] }, origins: { tools: { from: "default" } } });
  });

  test("every row of every preset has a dialect", () => {
    const rows = [agentFamilies, ...Object.values(presets).map((preset) => preset.families)].flat(2);
    expect(rows.filter(({ dialect }) => dialects[dialect] === undefined)).toEqual([]);
  });
});

test("each field records its source: the file and its line, the base, the settings, a default", async () => {
  const home = tempFolder({
    ".pi/agent/agents/base.md": agentFile("base", "tools: read\nmodel: small\nthinking: low\n"),
    ".pi/agent/agents/kid.md": agentFile("kid", "extends: base\ntools: grep\n"),
    ".omp/agent/agents/o.md": agentFile("o"),
  });
  const found = await discover({ cwd: "/nowhere/p", home, dialects, settings: { kid: { thinking: "high" } } });
  const explained = (name: string): Record<string, string> =>
    Object.fromEntries(
      explainFields(findAgent(found, name)!, dialects).map(({ field, origin }) => [
        field,
        describeOrigin(origin).replaceAll(`${home}/`, ""),
      ]),
    );
  expect(explained("kid")).toEqual({
    name: ".pi/agent/agents/kid.md:2 (name)",
    description: ".pi/agent/agents/kid.md:3 (description)",
    extends: ".pi/agent/agents/kid.md:4 (extends)",
    tools: "base base and .pi/agent/agents/kid.md:5 (tools)",
    instructions: ".pi/agent/agents/kid.md (body)",
    model: "base base",
    thinking: "settings (agents.kid.thinking)",
  });
  expect(explained("o")["completion"]).toBe("default (dialect)");
});
