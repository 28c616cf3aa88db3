import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCrew } from "../../../src/crew.ts";
import { findAgents, findCommands, findSkills } from "../../../src/defaults.ts";
import { openTrust } from "../../../src/runtime/settings/trust.ts";
import { grantOf, reviewTrust, type TrustReview } from "../../../src/runtime/settings/trust-review.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const agentFile = (name: string, more = ""): string => `---\nname: ${name}\ndescription: d\n${more}---\nText\n`;

const project = {
  "work/.git/HEAD": "",
  "work/.claude/agents/a.md": agentFile("a"),
  "work/.claude/skills/s/SKILL.md": "Do it.\n",
  "work/.claude/commands/c.md": "Run $@\n",
  "work/.subcrew/config.yaml": "concurrency: 2\n",
};

function there(files: Readonly<Record<string, string>> = project): {
  root: string;
  trustFile: string;
  review: (cwd?: string) => Promise<readonly TrustReview[]>;
  agree: () => Promise<void>;
} {
  const root = tempFolder(files);
  const trustFile = join(root, "home/.subcrew/trust.json");
  const home = join(root, "home");
  const review = (cwd = join(root, "work")): Promise<readonly TrustReview[]> =>
    reviewTrust({
      cwd,
      home,
      granted: openTrust(trustFile).granted,
      looking: [
        { kind: "agent", find: (trust) => findAgents({ cwd, home, trust }) },
        { kind: "skill", find: async (trust) => (await findSkills({ cwd, home, trust })).discovery },
        { kind: "command", find: async (trust) => (await findCommands({ cwd, home, trust })).discovery },
      ],
    });
  const agree = async (): Promise<void> => {
    for (const one of await review()) await openTrust(trustFile).grant(one.root, grantOf(one, new Date(0)));
  };
  return { root, trustFile, review, agree };
}

const crewOf = (root: string): ReturnType<typeof createCrew> =>
  createCrew({ cwd: join(root, "work"), env: { HOME: join(root, "home") }, config: true });

const states = (reviews: readonly TrustReview[]): string[] =>
  reviews.flatMap(({ brought, gone }) => [
    ...brought.map(({ state, file }) => `${state} ${file}`),
    ...gone.map((file) => `gone ${file}`),
  ]);

test("a review shows everything that a project would add, and reveals nothing secret", async () => {
  const { root, review } = there();
  const [one, ...more] = await review();
  expect(more).toEqual([]);
  expect(one!.root).toBe(join(root, "work"));
  expect(one!.brought.map(({ kind, names, state }) => [kind, names, state])).toEqual([
    ["agent", ["a"], "new"],
    ["skill", ["s"], "new"],
    ["command", ["c"], "new"],
    ["settings", [], "new"],
  ]);
  expect(one!.brought.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
  const crew = crewOf(root);
  expect((await crew.agents()).untrusted.map(({ name }) => name)).toEqual(["a"]);
  expect([
    (await crew.skills()).discovery.untrusted.length,
    (await crew.commands()).discovery.untrusted.length,
  ]).toEqual([1, 1]);
  expect(crew.settings.config).toEqual({});
});

test("trusted files are used; files that change or are added later are not", async () => {
  const { root, review, agree } = there();
  await agree();
  const crew = crewOf(root);
  expect(crew.settings.config).toEqual({ concurrency: 2 });
  expect((await crew.agents()).agents.map(({ name }) => name)).toContain("a");
  expect((await crew.skills()).all.map(({ name }) => name)).toContain("s");

  writeFileSync(join(root, "work/.claude/agents/a.md"), agentFile("a", "tools: Bash\n"));
  writeFileSync(join(root, "work/.claude/agents/b.md"), agentFile("b"));
  writeFileSync(join(root, "work/.subcrew/config.yaml"), "concurrency: 9\n");
  rmSync(join(root, "work/.claude/commands/c.md"));
  const later = crewOf(root);
  expect((await later.agents()).untrusted.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(later.settings.config).toEqual({});
  expect(states(await review())).toEqual([
    "changed .claude/agents/a.md",
    "new .claude/agents/b.md",
    "same .claude/skills/s/SKILL.md",
    "changed .subcrew/config.yaml",
    "gone .claude/commands/c.md",
  ]);
  await agree();
  expect((await crewOf(root).agents()).untrusted).toEqual([]);
});

test("agents that extend a changed base are not used either", async () => {
  const { root, agree } = there({
    "work/.git/HEAD": "",
    "work/.agents/agents/base.md": agentFile("base", "tools: [read_file]\n"),
    "work/.agents/agents/kid.md": agentFile("kid", "extends: base\n"),
  });
  await agree();
  expect((await crewOf(root).agents()).agents.map(({ name }) => name)).toEqual(expect.arrayContaining(["base", "kid"]));
  writeFileSync(join(root, "work/.agents/agents/base.md"), agentFile("base", "tools: [bash]\n"));
  const after = await crewOf(root).agents();
  expect(after.agents.map(({ name }) => name)).not.toContain("kid");
  expect(after.untrusted.map(({ name }) => name)).toEqual(["base"]);
});

test("a link that is swapped for another file is not trusted", async () => {
  const { root, agree } = there({
    "work/.git/HEAD": "",
    "work/good.md": agentFile("x"),
    "work/evil.md": agentFile("x", "tools: Bash\n"),
    "work/.agents/agents/y.md": agentFile("y"),
  });
  const link = join(root, "work/.agents/agents/x.md");
  symlinkSync(join(root, "work/good.md"), link);
  await agree();
  expect((await crewOf(root).agents()).agents.map(({ name }) => name)).toContain("x");
  rmSync(link);
  symlinkSync(join(root, "work/evil.md"), link);
  expect((await crewOf(root).agents()).untrusted.map(({ name }) => name)).toEqual(["x"]);
});

test("a repository inside of a trusted project is not trusted with it, and neither is a project that was moved", async () => {
  const { root, agree } = there({
    ...project,
    "work/inner/.git/HEAD": "",
    "work/inner/.claude/agents/n.md": agentFile("n"),
  });
  await agree();
  const inner = createCrew({ cwd: join(root, "work/inner"), env: { HOME: join(root, "home") } });
  expect((await inner.agents()).untrusted.map(({ name }) => name)).toEqual(["n"]);
  renameSync(join(root, "work"), join(root, "moved"));
  const moved = createCrew({ cwd: join(root, "moved"), env: { HOME: join(root, "home") } });
  expect((await moved.agents()).untrusted.map(({ name }) => name)).toEqual(["a"]);
});

test("an untrusted agent does not run, and the error names a fix", async () => {
  const { root } = there();
  const run = crewOf(root).run({ mode: "single", agent: "a", task: "x", model: "offline" });
  await expect(run).rejects.toMatchObject({ code: "UNTRUSTED", hint: expect.stringContaining("subcrew trust") });
});

test("revoked trust has no effect, and a damaged trust store is not overwritten", async () => {
  const { root, trustFile, agree } = there();
  await agree();
  expect(await openTrust(trustFile).revoke(join(root, "work"))).toBe(true);
  expect(await openTrust(trustFile).revoke(join(root, "work"))).toBe(false);
  expect((await crewOf(root).agents()).untrusted).toHaveLength(1);
  writeFileSync(trustFile, "{ damaged");
  await expect(agree()).rejects.toMatchObject({ code: "BAD_FILE" });
});

const helped = {
  ...project,
  "work/.claude/skills/s/scripts/run.sh": "echo 1\n",
  "work/.claude/skills/s/data.bin": "\0\u0001",
  "work/.claude/skills/t/SKILL.md": "Other.\n",
  "work/docs/other.md": "No skill.\n",
};

test.each<readonly [title: string, change: (work: string, skill: string) => void, state: readonly string[]]>([
  ["a script changes", (_, skill) => writeFileSync(join(skill, "scripts/run.sh"), "rm -rf\n"), ["s"]],
  ["a file that is no text changes", (_, skill) => writeFileSync(join(skill, "data.bin"), "\0\u0002"), ["s"]],
  ["a file is added", (_, skill) => writeFileSync(join(skill, "scripts/sh.py"), ""), ["s"]],
  ["a file is removed", (_, skill) => rmSync(join(skill, "data.bin")), ["s"]],
  ["an empty folder is added", (_, skill) => mkdirSync(join(skill, "new")), ["s"]],
  [
    "a file becomes a link",
    (work, skill) => {
      renameSync(join(skill, "data.bin"), join(work, "data.bin"));
      symlinkSync(join(work, "data.bin"), join(skill, "data.bin"));
    },
    ["s"],
  ],
  ["a file elsewhere changes", (work) => writeFileSync(join(work, "docs/other.md"), "Be rude.\n"), []],
])("the files in the folder of a skill are trusted as they are: %s", async (_, change, changed) => {
  const { root, review, agree } = there(helped);
  await agree();
  const untrusted = async (): Promise<unknown[]> =>
    (await crewOf(root).skills()).discovery.untrusted.map(({ name, distrust }) => [name, distrust]);
  expect(await untrusted()).toEqual([]);
  change(join(root, "work"), join(root, "work/.claude/skills/s"));
  expect(await untrusted()).toEqual(changed.map((name) => [name, "changed"]));
  expect(states(await review()).filter((state) => state.startsWith("changed"))).toHaveLength(changed.length);
  await agree();
  expect(await untrusted()).toEqual([]);
});

test("links, loops, pipes and long files in the folder of a skill stop nothing, and too many files are refused", async () => {
  const { root, agree } = there(helped);
  const skill = join(root, "work/.claude/skills/s");
  symlinkSync("..", join(skill, "up"));
  symlinkSync("/", join(skill, "everything"));
  symlinkSync("nowhere", join(skill, "broken"));
  execFileSync("mkfifo", [join(skill, "pipe")]);
  writeFileSync(join(skill, "long"), "");
  truncateSync(join(skill, "long"), 2 ** 40);
  const state = async (): Promise<unknown> => {
    const { all, discovery } = await crewOf(root).skills();
    const found = all.some(({ name }) => name === "s");
    return found ? "ready" : discovery.untrusted.find(({ name }) => name === "s")?.distrust;
  };
  await agree();
  expect(await state()).toBe("ready");
  truncateSync(join(skill, "long"), 2 ** 40 + 1);
  expect(await state()).toBe("changed");
  mkdirSync(join(skill, "many"));
  for (let index = 0; index < 2001; index++) writeFileSync(join(skill, "many", String(index)), "");
  await agree();
  expect(await state()).toBe("unchecked");
});
