import { expect, test } from "vitest";
import { proposedRule } from "./propose-rule.ts";

test.each([
  ["bash", { command: "npm test -- --watch a.ts" }, "bash(npm test -- --watch *)"],
  ["bash", { command: "npm run build" }, "bash(npm run build *)"],
  ["bash", { command: "git log --oneline -5 src" }, "bash(git log --oneline -5 *)"],
  ["bash", { command: "npm run build a" }, "bash(npm run build *)"],
  ["bash", { command: "npm test a" }, "bash(npm test *)"],
  ["bash", { command: "touch one.txt" }, "bash(touch *)"],
  ["bash", { command: "touch -c one.txt" }, "bash(touch -c *)"],
  ["bash", { command: "python3 a.py x" }, "bash(python3 a.py *)"],
  ["bash", { command: "python3 -m pytest tests/a.py" }, "bash(python3 -m pytest *)"],
  ["bash", { command: "node --test a.js b" }, "bash(node --test a.js *)"],
  ["bash", { command: "python3 --version" }, "bash(python3 --version *)"],
  ["bash", { command: "gh pr view 1" }, "bash(gh pr view *)"],
  ["bash", { command: "docker compose ps a" }, "bash(docker compose ps *)"],
  ["bash", { command: "timeout 60 npm test a" }, "bash(timeout 60 npm test *)"],
  ["bash", { command: "npx tsc --noEmit a" }, "bash(npx tsc --noEmit *)"],
  ["bash", { command: "bash build.sh a" }, "bash(bash build.sh *)"],
  ["bash", { command: "xargs -n1 rm" }, undefined],
  ["bash", { command: "docker ps a" }, "bash(docker ps *)"],
  ["edit_file", { path: "src/core/a.ts", oldText: "a", newText: "b" }, "edit_file(src/core/**)"],
  ["write_file", { path: "README.md" }, "write_file(README.md)"],
  ["http_get", { url: "https://example.com/a/b?c" }, "http_get(https://example.com/*)"],
])("the approved call of %s with %j proposes the rule %s", (tool, input, rule) => {
  expect(proposedRule(tool, input)).toBe(rule);
});

test.each(["rm a && rm b", "echo $(whoami)", "cat a > b", "ls | sh", "echo 'a b'", "a\nb", ""])(
  "a command line with operators or quotes is never generalised: %j",
  (command) => {
    expect(proposedRule("bash", { command })).toBeUndefined();
  },
);

test.each([{ url: "no address" }, { url: 5 }, { path: "" }, {}, "text"])(
  "the approved call %j proposes no rule",
  (input) => {
    expect(proposedRule("http_get", input)).toBeUndefined();
  },
);
