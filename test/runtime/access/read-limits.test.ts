import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ModelRequest } from "../../../src/core/model/model.ts";
import { createCrew, defineTool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { play } from "../../support/play.ts";
import { tempFolder } from "../../support/temp-folder.ts";

function workspace(): string {
  const cwd = tempFolder();
  for (const file of ["src/a/in.txt", "src/in.md", "docs/out.txt", "docs/out.md", "out.txt"]) {
    mkdirSync(dirname(join(cwd, file)), { recursive: true });
    writeFileSync(join(cwd, file), `marker in ${file}\n`);
  }
  return cwd;
}

const SEARCHES = [
  { name: "grep_files", input: { pattern: "marker" } },
  { name: "grep_files", input: { pattern: "marker", path: "docs" } },
  { name: "grep_files", input: { pattern: "marker", path: "out.txt" } },
  { name: "list_files", input: { depth: 4 } },
  { name: "glob", input: { pattern: "**/*" } },
  { name: "get_file_info", input: { path: "docs/out.txt" } },
  { name: "move_file", input: { from: "out.txt", to: "src/moved.txt" } },
];

const REST = ["Grep", "list_files", "Glob", "get_file_info", "move_file", "write_file"];

/** The files that the results of these calls mention. */
async function mentioned(tools: readonly string[], calls: readonly { name: string; input: object }[] = SEARCHES) {
  const cwd = workspace();
  const { ended } = await play([{ calls }], { cwd, agent: { tools }, permissions: { mode: "acceptEdits" } });
  const shown = ended.filter(({ error }) => !error).map(({ text }) => text);
  return { cwd, files: [...new Set(shown.join("\n").match(/\b(?:in|out)\.\w+/g))].toSorted() };
}

test.each<[string, readonly string[]]>([
  ["Read(src/**)", ["in.md", "in.txt"]],
  ["Read(src/a/**)", ["in.txt"]],
  ["Read(*.md)", ["in.md", "out.md"]],
  ["Read(./src/a/in.txt)", ["in.txt"]],
  ["Read", ["in.md", "in.txt", "out.md", "out.txt"]],
  ["Read(*)", ["in.md", "in.txt", "out.md", "out.txt"]],
])("an agent with the tool %s cannot find, list or move other files with its other tools", async (tool, files) => {
  const found = await mentioned([tool, ...REST]);
  expect(found.files).toEqual(files);
  expect(existsSync(join(found.cwd, "src/moved.txt"))).toBe(files.includes("out.txt"));
});

test("a tool with its own list of paths uses that list, and tools that write are not limited", async () => {
  const tools = ["Read(src/**)", "Grep(docs/**)", "write_file"];
  const { cwd, files } = await mentioned(tools, [
    { name: "grep_files", input: { pattern: "marker", path: "docs" } },
    { name: "write_file", input: { path: "docs/new.txt", content: "x" } },
  ]);
  expect(files).toEqual(["out.md", "out.txt"]);
  expect(existsSync(join(cwd, "docs/new.txt"))).toBe(true);
});

test("an agent that cannot read files, but search them, searches all of them", async () => {
  expect((await mentioned(["Grep"])).files).toEqual(["in.md", "in.txt", "out.md", "out.txt"]);
});

test("a file that a rule forbids to read reaches no model through files of the project that name it", async () => {
  const [cwd, home] = [tempFolder(), tempFolder()];
  const closed = "---\nname: NAME\ndescription: canary-d\n---\ncanary-text\n";
  const files: Record<string, string> = {
    "plans/plan.md": "canary-plan\n",
    "plans/agent.md": closed.replace("NAME", "linked"),
    "open.md": "open-import\n",
    "AGENTS.md": "Read @plans/plan.md, @link.md and @open.md\n",
    "opencode.json": JSON.stringify({
      agent: { third: { description: "d", mode: "all", prompt: "{file:./plans/plan.md}" } },
    }),
    ".kiro/agents/kiro.json": JSON.stringify({
      name: "kiro",
      description: "d",
      prompt: "file://../../plans/plan.md",
      resources: ["file://plans/plan.md"],
    }),
    ".subcrew/agents/own.md": "---\nname: own\ndescription: d\n---\nWork.\n",
    ".subcrew/commands/open.md": "---\ndescription: d\n---\nA command.\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  symlinkSync("plans/plan.md", join(cwd, "link.md"));
  symlinkSync("../../plans/agent.md", join(cwd, ".subcrew/agents/linked.md"));
  symlinkSync("../../plans/plan.md", join(cwd, ".subcrew/commands/linked.md"));
  const asked: string[] = [];
  const answer = (request: ModelRequest): string => {
    asked.push(JSON.stringify(request));
    return "done";
  };
  const crew = createCrew({
    cwd,
    home: join(home, "state"),
    userHome: home,
    env: { PATH: "/usr/bin:/bin", HOME: home },
    trusted: true,
    unattended: true,
    permissions: { deny: ["read_file(plans/**)", "my_tool"] },
    tools: [defineTool({ name: "my_tool", description: "d", input: z.object({}), effect: "read", run: () => "x" })],
    models: { m: scripted(...Array.from({ length: 6 }, () => answer)) },
    model: "m",
  });
  for (const name of ["own", "third", "kiro", "linked"])
    await Promise.resolve(crew.run({ mode: "single", agent: name, task: "Go." })).catch(() => {});
  expect(asked.join()).toContain("open-import");
  expect(asked.join()).not.toContain("canary");
  expect((await crew.commands()).all.map(({ name }) => name)).toContain("open");
  expect(JSON.stringify((await crew.commands()).all)).not.toContain("canary");
});
