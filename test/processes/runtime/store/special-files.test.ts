import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { place } from "../../command.ts";

/** The files that are read in a project and in a person's home folder. */
const FILES = [
  ".mcp.json .subcrew/config.yaml .subcrew/agents/a.md .claude/agents/b.md .claude/settings.json .codex/agents/c.toml AGENTS.md CLAUDE.md",
  "SUBAGENT.md .subcrew/skills/s/SKILL.md .subcrew/commands/k.md .subcrew-plugin/plugin.json .gitignore .git/HEAD .git/config",
]
  .join(" ")
  .split(" ");
const STATE = "rules.json trust.json agents/d.md chat-history.json models.json".split(" ");

test("pipes in place of every file of a project and a state folder block no command", async () => {
  const at = place();
  const pipe = (path: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    execFileSync("mkfifo", [path]);
  };
  for (const file of FILES) pipe(join(at.workspace, file));
  for (const file of FILES.filter((name) => !name.startsWith(".git"))) pipe(join(at.home, file));
  for (const file of STATE) pipe(join(at.env["SUBCREW_HOME"]!, file));
  const commands = [
    ["agents", "list"],
    ["agents", "lint"],
    ["mcp", "list"],
    ["config", "show"],
    ["run", "explore", "where is main?", "--context-file", "AGENTS.md"],
    ["team", "--input", ".mcp.json"],
  ];
  const all = await Promise.all(commands.map((args) => at.run(args, { through: ["timeout", "100"] })));
  for (const [index, { code, signal, stderr }] of all.entries()) {
    expect([commands[index], signal, code === 124]).toEqual([commands[index], null, false]);
    expect(stderr).not.toContain("UNEXPECTED");
  }
}, 120_000);

test("a socket and a link to itself are reported in one sentence", async () => {
  const at = place();
  mkdirSync(join(at.workspace, ".subcrew"));
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(join(at.workspace, ".subcrew/config.yaml"), resolve));
  symlinkSync("loop.md", join(at.workspace, "loop.md"));
  for (const args of [
    ["trust", "--yes"],
    ["agents", "lint", "loop.md"],
  ])
    expect([args, (await at.run(args)).stderr]).toEqual([args, expect.not.stringMatching(/Unexpected|UNEXPECTED/)]);
});
