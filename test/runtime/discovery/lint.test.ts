import { join } from "node:path";
import { expect, test } from "vitest";
import { dialects } from "../../../src/formats/table.ts";
import { dialectPlaceOf } from "../../../src/runtime/discovery/dialect-of-path.ts";
import { discover } from "../../../src/runtime/discovery/discover.ts";
import { lintDiscovery, lintPaths } from "../../../src/runtime/discovery/lint.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const claudeFile = "---\nname: a\ndescription: d\nallowedTools: Read\ncolour: red\n---\nText\n";

test.each([
  ["/p/.claude/agents/review/critic.md", "claude", "review/critic.md"],
  ["/p/.codex/agents/x.toml", "codex", "x.toml"],
  ["/home/me/.config/opencode/agent/a/b.md", "opencode", "a/b.md"],
  ["/p/opencode.json", "opencode", "opencode.json"],
  ["/p/.roomodes", "roo", ".roomodes"],
  ["/p/subagents/digger/SUBAGENT.md", "subagent", "digger/SUBAGENT.md"],
  ["/elsewhere/digger/SUBAGENT.md", "subagent", "digger/SUBAGENT.md"],
  ["/elsewhere/x.agent.md", "copilot", "x.agent.md"],
  ["/p/.claude/agents/.gemini/agents/x.md", "gemini", "x.md"],
])("%s is read as %s", (path, dialect, relative) => {
  expect(dialectPlaceOf(path)).toMatchObject({ dialect, relative });
});

test("the agents of a plugin are recognised by the files next to them", () => {
  const root = tempFolder({
    "plug/.claude-plugin/plugin.json": "{}",
    "plug/agents/x.md": claudeFile,
    "other/agents/y.md": "",
  });
  expect(dialectPlaceOf(join(root, "plug/agents/x.md"))).toMatchObject({ dialect: "claude", relative: "x.md" });
  expect(dialectPlaceOf(join(root, "other/agents/y.md"))).toBeUndefined();
});

test("problems have a file, a line, a code and a fix", () => {
  const root = tempFolder({ ".claude/agents/a.md": claudeFile });
  const { files, problems } = lintPaths([join(root, ".claude")], dialects);
  expect(files).toEqual([join(root, ".claude/agents/a.md")]);
  expect(problems).toEqual([
    expect.objectContaining({
      code: "unknown-field",
      field: "allowedTools",
      line: 4,
      hint: 'Did you mean "tools"?',
      file: files[0],
    }),
    expect.objectContaining({ code: "unknown-field", field: "colour", line: 5, hint: 'Did you mean "color"?' }),
  ]);
});

test("a folder can contain files of many dialects, each read by its path", () => {
  const root = tempFolder({
    ".claude/agents/a.md": "---\nname: a\ndescription: d\n---\nText\n",
    ".gemini/agents/b.md": "---\nname: b\ndescription: d\nmaxTurns: 3\n---\nText\n",
    ".codex/agents/c.toml": 'name = "c"\ndescription = "d"\n',
    "README.md": "# no agent\n",
    "node_modules/x/.claude/agents/d.md": "---\n---\n",
  });
  const { files, problems } = lintPaths([root], dialects);
  expect(files.map((file) => file.slice(root.length + 1))).toEqual([
    ".claude/agents/a.md",
    ".codex/agents/c.toml",
    ".gemini/agents/b.md",
  ]);
  expect(problems.map(({ code, file }) => [code, file?.slice(root.length + 1)])).toEqual([
    ["bad-definition", ".codex/agents/c.toml"],
    ["bad-definition", ".gemini/agents/b.md"],
  ]);
});

test("files outside of known folders are read in subcrew's own dialect, or in the dialect that is named", () => {
  const root = tempFolder({ "mine/x.md": "---\ndescription: d\n---\n", "mine/notes.txt": "" });
  expect(lintPaths([join(root, "mine")], dialects).problems).toMatchObject([{ code: "missing-prompt" }]);
  expect(lintPaths([join(root, "mine")], dialects, "claude").problems.map(({ code }) => code)).toContain(
    "missing-name",
  );
  expect(() => lintPaths([join(root, "mine")], dialects, "cloude")).toThrow('Unknown dialect "cloude"');
  expect(() => lintPaths([join(root, "nothing")], dialects)).toThrow("does not exist");
});

test("all files that are found are checked, also untrusted and invalid files and base agents", async () => {
  const root = tempFolder({
    "work/.claude/agents/a.md": claudeFile,
    "home/.agents/agents/kid.md": "---\nname: kid\ndescription: d\nextends: nobody\n---\nText\n",
    "home/.agents/agents/bad.md": "no frontmatter",
  });
  const found = await discover({ cwd: join(root, "work"), home: join(root, "home"), dialects });
  const { files, problems } = lintDiscovery(found, dialects);
  expect(files).toHaveLength(3);
  expect(problems.map(({ code, line }) => [code, line])).toEqual(
    expect.arrayContaining([
      ["unknown-field", 4],
      ["unknown-base", 4],
      ["no-frontmatter", undefined],
    ]),
  );
});
