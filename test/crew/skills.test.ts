import { join } from "node:path";
import { expect, test } from "vitest";
import { createCrew } from "../../src/crew.ts";
import { discoverCommands, discoverSkills, getSkill } from "../../src/doors/workflows.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

const skill = (text: string): string => `---\ndescription: d\n---\n${text}\n`;

test("skills are found in the order of the families, the project before the home folder, bundled last", async () => {
  const root = tempFolder({
    "work/.claude/skills/one/SKILL.md": skill("claude, project"),
    "home/.claude/skills/one/SKILL.md": skill("claude, user"),
    "home/.agents/skills/one/SKILL.md": skill("agents, user"),
    "home/.codex/skills/two/SKILL.md": skill("codex, user"),
    "work/.claude/skills/code-review/SKILL.md": skill("ours"),
    "work/.claude/skills/no-skill/README.md": "nothing",
  });
  const skills = await discoverSkills(join(root, "work"), join(root, "home"));
  expect(skills.map(({ name, instructions, source }) => [name, instructions, source])).toEqual([
    ["one", "agents, user", "user"],
    ["code-review", "ours", "project"],
    ["two", "codex, user", "user"],
  ]);
  expect(getSkill(await discoverSkills(tempFolder(), "/nowhere"), "code-review")).toMatchObject({
    source: "bundled",
    agent: "reviewer",
  });
});

test("plugins provide skills and commands", async () => {
  const root = tempFolder({ "plug/skills/s/SKILL.md": skill("of a plugin"), "plug/commands/c.md": "Run $1" });
  const registry = { version: 2, plugins: { "p@m": [{ scope: "user", installPath: join(root, "plug") }] } };
  const home = tempFolder({ ".claude/plugins/installed_plugins.json": JSON.stringify(registry) });
  expect((await discoverSkills(root, home)).map(({ name, source }) => [name, source])).toContainEqual(["s", "plugin"]);
  expect((await discoverCommands(root, home)).map(({ name, source }) => [name, source])).toContainEqual([
    "c",
    "plugin",
  ]);
});

test("commands in folders have the folder in their name, and prompts of Copilot lose their file extension", async () => {
  const cwd = tempFolder({
    ".claude/commands/front/test.md": '---\ndescription: tests\nargument-hint: "[file]"\nmodel: fast\n---\nTest $1',
    ".github/prompts/plan.prompt.md": "---\nmode: agent\n---\nPlan it",
    ".claude/commands/README.md": "# about",
  });
  const commands = await discoverCommands(cwd, "/nowhere");
  expect(commands.map(({ name }) => name)).toEqual(["front:test", "plan", "init"]);
  expect(commands[0]).toMatchObject({ description: "tests", argumentHint: "[file]", model: "fast" });
});

test("a broken skill does not hide the others", async () => {
  const cwd = tempFolder({
    ".claude/skills/bad/SKILL.md": "---\nname: [x\n  y: {\n---\nB",
    ".claude/skills/ok/SKILL.md": skill("fine"),
  });
  expect((await discoverSkills(cwd, "/nowhere")).map(({ name }) => name)).toContain("ok");
});

test("finding agents does not look for skills or commands", async () => {
  const root = tempFolder({
    "home/.agents/agents/a.md": "---\nname: a\ndescription: d\n---\nA\n",
    "home/.agents/commands/c.md": "C",
  });
  const { agents, sources } = await createCrew({ cwd: root, env: { HOME: join(root, "home") } }).agents();
  expect(agents.map(({ name }) => name)).toContain("a");
  expect(sources.map(({ path }) => path)).toEqual([join(root, "home/.agents/agents")]);
});

test("an agent that lists skills starts with their text; a missing skill is reported", async () => {
  const root = tempFolder({
    "home/.agents/agents/a.md": "---\nname: a\ndescription: d\nskills: [style, missing]\n---\nPrompt of a.\n",
    "home/.claude/skills/style/SKILL.md": skill("Write short lines."),
    "work/.claude/skills/missing/SKILL.md": skill("not trusted"),
  });
  const model = scripted("done");
  const crew = createCrew({
    cwd: join(root, "work"),
    env: { HOME: join(root, "home") },
    home: false,
    models: { mine: model },
  });
  const run = crew.run({ mode: "single", agent: "a", task: "x" });
  const told: string[] = [];
  for await (const event of run) if (event.type === "warning") told.push(event.text);
  expect((await run).status).toBe("ok");
  const [{ system } = { system: "" }] = model.requests;
  expect(system).toMatch(/Prompt of a\.\n\n## Skill: style\n\nWrite short lines\./);
  expect(system).not.toContain("not trusted");
  expect(told).toEqual(['The agent "a" lists the skill "missing", which does not exist.']);
});

test("an agent of a trusted project that replaces another agent is reported in one line", async () => {
  const cwd = tempFolder({
    ".git/HEAD": "",
    ".agents/agents/explore.md": "---\nname: explore\ndescription: d\n---\nMine.\n",
  });
  const crew = createCrew({
    cwd,
    env: { HOME: "/nowhere" },
    home: false,
    trusted: true,
    models: { mine: scripted("done") },
  });
  const run = crew.run({ mode: "single", agent: "explore", task: "x" });
  const told: string[] = [];
  for await (const event of run) if (event.type === "warning") told.push(event.text);
  expect(told).toEqual([
    `The agent "explore" of this project (${cwd}/.agents/agents/explore.md) is used instead of the bundled agent.`,
  ]);
});
