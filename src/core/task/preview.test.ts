import { describe, expect, test } from "vitest";
import { redactedPreview, extractToolArgsPreview } from "./preview.ts";

const long = `/base/${"a".repeat(60)}/end.ts`;

describe("the preview of a call of a canonical tool", () => {
  test.each([
    ["read_file", { path: "a.ts", offset: 10, limit: 5 }, "a.ts [10-15]"],
    ["read_file", { path: "a.ts", offset: 10 }, "a.ts [10-]"],
    ["write_file", { path: "a.ts", content: "hello" }, "a.ts (5 chars)"],
    ["write_file", { path: "a.ts" }, "a.ts"],
    ["edit_file", { path: long }, `...${long.slice(-47)}`],
    ["list_files", { path: "src" }, "src"],
    ["delete_file", { path: "a.ts" }, "a.ts"],
    ["move_file", { from: "a.ts", to: "b.ts" }, "a.ts -> b.ts"],
    ["grep_files", { pattern: "TODO", path: "src" }, "TODO in src"],
    ["grep_files", { pattern: "TODO" }, "TODO"],
    ["glob", { pattern: "**/*.ts" }, "**/*.ts"],
    ["find", { path: "src", name: "*.md" }, 'src -name "*.md"'],
    ["bash", { command: "npm test" }, "npm test"],
    ["todo", { action: "list" }, "list"],
    ["todo", { title: "Write docs" }, "title: Write docs"],
    ["mcp", { tool: "search_issues", server: "github" }, "tool: search_issues"],
    ["notify", { message: "Half done" }, "Half done"],
    ["ask", { question: "Which one?" }, "Which one?"],
    ["task_replay", { id: "run_1/a" }, "run_1/a"],
    ["http_get", { url: "https://example.com" }, "https://example.com"],
    ["task", { agent: "scout" }, "agent: scout"],
  ])("%s %j is shown as %j", (tool, args, preview) => {
    expect(extractToolArgsPreview(tool, args)).toBe(preview);
  });
});

test.each([
  ["read", { offset: 3, path: "a.ts" }, "a.ts [3-103]"],
  ["read", { file_path: "a.ts", limit: 4 }, "a.ts [1-5]"],
  ["read", { offset: 0, limit: 0, path: "a.ts" }, "a.ts"],
  ["write", { content: "hello" }, "content: hello"],
  ["write", { path: "a.ts", content: "" }, "a.ts"],
  ["edit", { file_path: "a.ts", old: "x", new: "y" }, "a.ts"],
  ["grep", { path: "src" }, "src"],
  ["rg", { pattern: "TODO", path: "src" }, "TODO in src"],
  ["rg", { pattern: "TODO" }, "TODO"],
  ["find", { path: "src", pattern: "*.md" }, 'src -name "*.md"'],
  ["find", { pattern: "*.md" }, "*.md"],
  ["mcp", { server: "github", search: "issues" }, "search: issues"],
  ["mcp", { tool: "t", server: "s", search: "q" }, "tool: t"],
  ["mcp", {}, ""],
  ["subagent", { task: "Review", agent: "scout" }, "Review"],
  ["subagent", {}, ""],
  ["todo", { action: "add" }, "add"],
  ["todo", { action: "done", title: "Docs", id: "7" }, "done: Docs"],
  ["todo", { id: "7" }, "id: 7"],
  ["todo", { action: "done", id: 7 }, "done: 7"],
  ["bash", { timeout: 5 }, ""],
])("each combination of arguments has its preview: %s %j is shown as %j", (tool, args, preview) => {
  expect(extractToolArgsPreview(tool, args)).toBe(preview);
});

describe("the preview of a call with hostile arguments", () => {
  test("control characters are made visible, and several lines become one", () => {
    const preview = extractToolArgsPreview("bash", { command: "ls\n\u001b[2K\rrm -rf \u202ex\u009b1m" });
    expect(preview).toBe("ls ␛[2K␍rm -rf \ufffdx\ufffd1m");
  });

  test("control characters in names of arguments and in paths are made visible, too", () => {
    expect(extractToolArgsPreview("x", { "\u001bk": "v" })).toBe("␛k: v");
    expect(extractToolArgsPreview("read", { path: "a\u0007b" })).toBe("a␇b");
  });

  test("a command cannot hide behind a megabyte of blank lines", () => {
    expect(extractToolArgsPreview("bash", { command: `${"\n".repeat(1_000_000)}rm -rf /` })).toBe(" ...");
  });

  test("a cut never leaves half a character", () => {
    const faces = "😀".repeat(40);
    expect(extractToolArgsPreview("bash", { command: faces })).toBe(`${"😀".repeat(28)}...`);
    expect(extractToolArgsPreview("edit", { path: faces })).toBe(`...${"😀".repeat(23)}`);
  });

  test("objects, lists and inherited properties are ignored", () => {
    expect(extractToolArgsPreview("read", { path: { a: 1 }, offset: "1" })).toBe("offset: 1");
    expect(extractToolArgsPreview("bash", { command: ["ls"], name: "n" })).toBe("n");
    expect(extractToolArgsPreview("bash", null as never)).toBe("");
    expect(extractToolArgsPreview("bash", "ls" as never)).toBe("");
    expect(extractToolArgsPreview("constructor", {})).toBe("");
    expect(extractToolArgsPreview("__proto__", { toString: null })).toBe("");
    expect(extractToolArgsPreview("read", { path: "a", offset: Number.NaN, limit: Number.POSITIVE_INFINITY })).toBe(
      "a",
    );
  });
});

test.each([
  ["notify", { message: `a message with the key ${"x".repeat(30)}tulip-tulip` }, /x{20,}\[red/],
  ["read_file", { path: `tulip-tulip/${"x".repeat(44)}` }, /^\.\.\.[^ti]*x{40,}$/],
  ["bash", { command: `echo tulip-tulip; ${"x".repeat(20_000)}` }, /^echo \[key\]; x/],
  ["write_file", { path: "a", content: "tulip-tulip" }, /^a \(11 chars\)$/],
])("a secret is removed before the preview of %s is cut", (tool, args, expected) => {
  const shown = redactedPreview(tool, args, (text) =>
    text.replaceAll("tulip-tulip", tool === "bash" ? "[key]" : "[redacted]"),
  );
  expect(shown).toMatch(expected);
  expect(shown).not.toContain("tul");
});
