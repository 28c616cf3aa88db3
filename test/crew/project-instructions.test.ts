import { appendFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importsIn } from "../../src/core/agent/instruction-files.ts";
import { createCrew } from "../../src/crew.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import type { RunOptions } from "../../src/crew/prepare/run-options.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { openTrust } from "../../src/runtime/settings/trust.ts";
import { grantOf, reviewTrust } from "../../src/runtime/settings/trust-review.ts";
import { tempFolder } from "../support/temp-folder.ts";

const agent = (name: string, keys = ""): string => `---\nname: ${name}\ndescription: d\n${keys}---\nWork.\n`;
const toml = 'name = "codex-a"\ndescription = "d"\ndeveloper_instructions = "Work."\n';

/** A project with an agent of every family, and instructions at its root, in a package and at home. */
function place(more: Readonly<Record<string, string>> = {}): { project: string; home: string } {
  const root = tempFolder({
    "home/.subcrew/AGENTS.md": "user-own",
    "home/.claude/CLAUDE.md": "user-claude",
    "home/.codex/AGENTS.md": "user-codex",
    "home/.gemini/GEMINI.md": "user-gemini",
    "project/.git/HEAD": "",
    "project/AGENTS.md": "root-agents",
    "project/CLAUDE.md": "root-claude\n\nSee @docs/style.md, and not `@docs/code.md`.",
    "project/GEMINI.md": "root-gemini",
    "project/docs/style.md": "imported-style @more.md",
    "project/docs/more.md": "imported-more @style.md",
    "project/docs/code.md": "in-code",
    "project/pkg/AGENTS.md": "pkg-agents",
    "project/.agents/agents/own-a.md": agent("own-a"),
    "project/.agents/agents/off-a.md": agent("off-a", "projectInstructions: off\n"),
    "project/.claude/agents/claude-a.md": agent("claude-a"),
    "project/.claude/agents/omits.md": agent("omits", "omitClaudeMd: true\n"),
    "project/.codex/agents/codex-a.toml": toml,
    "project/.gemini/agents/gemini-a.md": agent("gemini-a"),
    "project/.opencode/agents/opencode-a.md": agent("opencode-a"),
    "project/.github/agents/copilot-a.agent.md": agent("copilot-a"),
    "project/.cursor/agents/cursor-a.md": agent("cursor-a"),
    "project/.omp/agents/omp-a.md": agent("omp-a"),
    "project/.pi/agents/pi-a.md": agent("pi-a"),
    "project/.qwen/agents/qwen-a.md": agent("qwen-a"),
    "project/.factory/droids/factory-a.md": agent("factory-a"),
    ...more,
  });
  return { project: join(root, "project"), home: join(root, "home") };
}

type Asked = Readonly<{ system: string; notes: readonly string[] }>;

/** The system prompt of an agent's model, and the notes of the run. */
async function ask(
  { project, home }: ReturnType<typeof place>,
  name: string,
  { cwd = project, trusted = true, options = {}, env = {} }: AskOptions = {},
): Promise<Asked> {
  let system = "";
  const model = scripted((request: ModelRequest) => {
    system = request.system ?? "";
    return "done";
  });
  const crew = createCrew({ cwd, env: { HOME: home, PATH: "", ...env }, trusted, models: { m: model } });
  const run = crew.run({ mode: "single", agent: name, task: "Go." }, options);
  const notes: string[] = [];
  for await (const event of run) if (event.type === "note") notes.push(event.text);
  await run;
  return { system, notes };
}
type AskOptions = Readonly<{
  cwd?: string;
  trusted?: boolean;
  options?: RunOptions;
  env?: Readonly<Record<string, string>>;
}>;

/** The marks in the system prompt, one for each included text, in their order. */
const marks = ({ system }: Asked): string[] =>
  [...system.matchAll(/\b(?:user|root|pkg|imported)-\w+|in-code/g)].map(([mark]) => mark);

test("each agent gets the instruction files that its own program would read, a bundled one the neutral files", async () => {
  const { project, home } = place();
  const told: Record<string, string> = {};
  const model = scripted(
    ...Array.from({ length: 14 }, () => (request: ModelRequest) => {
      const prompt = request.messages.map((message) => ("text" in message ? message.text : "")).join();
      told[/[\w-]+-a|omits|explore/.exec(prompt)![0]] = marks({ system: request.system ?? "", notes: [] }).join(" ");
      const finishes = request.tools.some(({ name }) => name === "complete_task");
      return finishes ? { calls: [{ id: "c", name: "complete_task", input: { result: "done" } }] } : "done";
    }),
  );
  const expected = {
    "own-a": "user-own root-agents",
    "claude-a": "user-claude root-claude imported-style imported-more",
    "codex-a": "user-codex root-agents",
    "gemini-a": "user-gemini root-gemini",
    "opencode-a": "user-claude root-agents",
    "copilot-a": "root-agents",
    "cursor-a": "root-agents",
    "omp-a": "root-agents",
    "pi-a": "",
    "qwen-a": "",
    "factory-a": "",
    "off-a": "",
    omits: "",
    explore: "user-own root-agents",
  };
  const crew = createCrew({ cwd: project, env: { HOME: home, PATH: "" }, trusted: true, models: { m: model } });
  await crew.run({ mode: "parallel", tasks: Object.keys(expected).map((name) => ({ agent: name, task: name })) });
  expect(told).toEqual(expected);
});

test("the nearest file comes last, and the folder of a task decides which is the nearest", async () => {
  const there = place();
  expect(marks(await ask(there, "own-a", { cwd: join(there.project, "pkg") }))).toEqual([
    "user-own",
    "root-agents",
    "pkg-agents",
  ]);
});

test("the run, and the settings of an agent, can turn project instructions off", async () => {
  const there = place({ "home/.subcrew/config.yaml": "agents:\n  own-a:\n    projectInstructions: off\n" });
  expect(marks(await ask(there, "codex-a", { options: { projectInstructions: false } }))).toEqual([]);
  const crew: Crew = createCrew({
    cwd: there.project,
    env: { HOME: there.home, PATH: "" },
    trusted: true,
    config: true,
  });
  const found = (await crew.agents()).agents.find(({ name }) => name === "own-a")!;
  expect((await crew.explain(found)).projectInstructions).toEqual({
    files: [],
    left: [],
    why: "the agent sets projectInstructions: off",
  });
});

describe("trust", () => {
  test("no instructions of an untrusted project are used, and the user is told so once", async () => {
    const there = place({ "home/.claude/agents/mine.md": agent("mine") });
    const asked = await ask(there, "mine", { trusted: false });
    expect(marks(asked)).toEqual(["user-claude"]);
    expect(asked.notes).toContain(
      "The instructions in CLAUDE.md are left out: the project is not trusted. `subcrew trust` shows them.",
    );
  });

  test("a file that changed since the project was trusted is left out until it is trusted again", async () => {
    const there = place({ "home/.claude/agents/mine.md": agent("mine") });
    const store = openTrust(join(there.home, ".subcrew/trust.json"));
    const agree = async (): Promise<void> => {
      const reviews = await reviewTrust({ cwd: there.project, home: there.home, looking: [], granted: store.granted });
      expect(reviews[0]!.brought.map(({ kind, file }) => `${kind} ${file}`)).toContain("instructions docs/more.md");
      for (const review of reviews) await store.grant(review.root, grantOf(review, new Date(0)));
    };
    await agree();
    expect(marks(await ask(there, "mine", { trusted: false }))).toContain("root-claude");
    appendFileSync(join(there.project, "CLAUDE.md"), "\nMore.");
    expect(marks(await ask(there, "mine", { trusted: false }))).not.toContain("root-claude");
    await agree();
    expect(marks(await ask(there, "mine", { trusted: false }))).toContain("root-claude");
  });

  test("imports stay inside of the project and away from secrets, and links are resolved before this is checked", async () => {
    const there = place({ "outside.md": "imported-outside", "project/.env.md": "imported-env" });
    writeFileSync(join(there.project, "CLAUDE.md"), "root-claude @../outside.md @linked.md @.env.md @docs/style.md");
    symlinkSync(join(there.project, "../outside.md"), join(there.project, "linked.md"));
    const asked = await ask(there, "claude-a");
    expect(marks(asked)).toEqual(["user-claude", "root-claude", "imported-style", "imported-more"]);
    expect(asked.notes.filter((note) => note.includes("left out"))).toHaveLength(2);
  });
});

test("long files are cut, the nearest is kept whole, and secrets are redacted", async () => {
  const there = place({ "project/pkg/AGENTS.md": "pkg-agents s3cret-value-of-a-key" });
  writeFileSync(join(there.project, "AGENTS.md"), `root-agents ${"x".repeat(40_000)}`);
  const env = { MY_API_KEY: "s3cret-value-of-a-key" };
  const { system, notes } = await ask(there, "own-a", { cwd: join(there.project, "pkg"), env });
  expect(system).toContain("pkg-agents");
  expect(system).not.toContain("s3cret");
  expect(system.length).toBeLessThan(40_000);
  expect(notes).toEqual(["The instructions in AGENTS.md are too long; a part is left out."]);
});

test("each file is imported once, also in a cycle; folders are not imported, and only the user's own file may import from `~`", async () => {
  const there = place({
    "home/.claude/CLAUDE.md": "user-claude @~/.claude/more.md @~/.ssh/notes.md",
    "home/.claude/more.md": "user-more",
    "home/.ssh/notes.md": "user-ssh",
    "project/CLAUDE.md": "root-claude @CLAUDE.md @a.md @docs @folder.md @~/.claude/other.md @missing.md",
    "home/.claude/other.md": "user-other",
    "project/a.md": "imported-a @b.md",
    "project/b.md": "imported-b @c.md",
    "project/c.md": "imported-c @./a.md @docs/../a.md",
    "project/folder.md/x": "",
  });
  expect(marks(await ask(there, "claude-a"))).toEqual([
    ..."user-claude user-more root-claude imported-a imported-b imported-c".split(" "),
  ]);
});

/** Ends the task: with the finish tool if the agent has one, otherwise with text. */
const finish = ({ tools }: ModelRequest) =>
  tools.some(({ name }) => name === "complete_task")
    ? { calls: [{ name: "complete_task", input: { result: "done" } }] }
    : "done";

test.each([
  ["claude", ".claude/agents/mine.md", agent("mine", "tools: [Read]\n"), "docs/more.md"],
  ["own", ".subcrew/agents/mine.md", agent("mine", "tools: [Read]\n"), "AGENTS.md"],
  ["omp", ".omp/agent/agents/mine.md", agent("mine", "tools: [read]\n"), "AGENTS.md"],
  ["codex", ".codex/agents/mine.toml", `${toml.replace("codex-a", "mine")}sandbox_mode = "read-only"\n`, "AGENTS.md"],
  ["gemini", ".gemini/agents/mine.md", agent("mine", "tools: [read_file]\n"), "GEMINI.md"],
  ["opencode", ".config/opencode/agent/mine.md", agent("mine", "tools: { '*': false, read: true }\n"), "AGENTS.md"],
  ["copilot", ".copilot/agents/mine.agent.md", agent("mine", "tools: [read]\n"), "AGENTS.md"],
  ["cursor", ".cursor/agents/mine.md", agent("mine", "readonly: true\n"), "AGENTS.md"],
])("%s: after a file has changed, an earlier result is not reused", async (_, path, file, changed) => {
  const there = place({ [`home/${path}`]: file });
  const reused = async (): Promise<boolean> => {
    const crew = createCrew({
      cwd: there.project,
      env: { HOME: there.home, PATH: "" },
      trusted: true,
      models: { m: scripted(finish) },
    });
    const run = crew.run({ mode: "single", agent: "mine", task: "Go." }, { reuse: true });
    let found = false;
    for await (const event of run) found ||= event.type === "node.reused";
    await run;
    return found;
  };
  expect([await reused(), await reused()]).toEqual([false, true]);
  appendFileSync(join(there.project, changed), "\nMore.");
  expect(await reused()).toBe(false);
});

test.each<[string, readonly string[]]>([
  ["See @docs/a.md.", ["docs/a.md"]],
  ["(@./b.txt) and @../c.md, then @README.md", ["./b.txt", "../c.md", "README.md"]],
  ["mail me@example.org or ask @someone", []],
  ["`@docs/a.md`", []],
  ["```\n@docs/a.md\n```\n@docs/b.md", ["docs/b.md"]],
  ["- @a/b.md\n- @a/b.md", ["a/b.md"]],
  ["``@docs/a.md`` and ` @docs/b.md`", []],
  ["````md\n```\n@docs/a.md\n```\n@docs/b.md\n````\n@docs/c.md", ["docs/c.md"]],
  ["  ~~~\n@docs/a.md\n  ~~~", []],
  ["@docs/a.md\n```\n@docs/never-closed.md", ["docs/a.md"]],
  ["<!-- @docs/a.md -->@docs/b.md", ["docs/b.md"]],
  ["@docs/größe.md, @文档/说明.md", ["docs/größe.md", "文档/说明.md"]],
  ["@docs/two\\ words.md and on", ["docs/two words.md"]],
  ["@docs/a.md\r\n@~/b.md", ["docs/a.md", "~/b.md"]],
  ['see "@docs/a.md" and <@docs/b.md>', ["docs/a.md", "docs/b.md"]],
])("imports in %j", (text, paths) => {
  expect(importsIn(text)).toEqual(paths);
});
