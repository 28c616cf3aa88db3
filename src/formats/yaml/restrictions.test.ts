import { expect, test } from "vitest";
import { restrictionsIn } from "./restrictions.ts";

const nothing = { denied: [] as string[], answers: [] as string[], modes: [] as string[] };

/** All that the lines forbid, without the tools that they list. */
function forbiddenIn(yaml: string): typeof nothing {
  const found = restrictionsIn(yaml);
  return { denied: [...found.denied], answers: [...found.answers], modes: [...found.modes] };
}

test.each([
  ["on one line", "disallowedTools: bash, write_file"],
  ["in brackets", "disallowedTools: [bash, 'write_file']"],
  ["with a comment", "disallowedTools: bash, write_file # edit_file"],
  ["that a stray line divides", "disallowedTools:\n  - bash\nx: @y\n  - write_file"],
  ["with a word that is no tool", "disallowedTools:\n  - bash\n  - no tool\n  - write_file"],
  ["with other line ends", "disallowedTools:\r- bash\r\n- write_file"],
  ["beside a list of allowed tools", "tools: read_file, bash\ndisallowedTools: bash, write_file"],
  ["before a list of allowed tools with a stray key", "deny: bash, write_file\ntools:\n  x: y\n  - read_file"],
  ["before a value that names a tool", "deny: bash\nname: edit_file\nwrite_file"],
  ["before a sentence with the name of a tool", "deny: bash\nname: x\n- write_file\n- read_file and text\n-"],
  ["below a key in quotes", '"deny": bash\nx: @y\n- write_file'],
  ["below a key with a question mark", "? deny: bash, write_file"],
  ["below a key with a wide colon", "deny： bash, write_file"],
])("in broken YAML, denied tools are found in a list %s", (_form, yaml) => {
  expect(forbiddenIn(yaml)).toEqual({ ...nothing, denied: ["bash", "write_file"] });
});

test.each([
  ["a tool of a server, and every tool", "deny:\n  - mcp__a__b\n  - '*'", ["mcp__a__b", "*"]],
  ["some calls of a tool", "deny: bash(rm a, b); write_file", ["bash(rm a, b)", "write_file"]],
  [
    "both, below another key",
    "deny: bash\nx: y\n- mcp__a__b\n- edit_file(a b)",
    ["bash", "mcp__a__b", "edit_file(a b)"],
  ],
  [
    "what stands below an unclear key",
    "permission:\n  x: deny\nnote: bash\n  write_file, read_file",
    ["write_file", "read_file"],
  ],
])("in broken YAML, a line can deny %s", (_what, yaml, denied) => {
  expect(forbiddenIn(yaml)).toEqual({ ...nothing, denied });
});

test.each([
  ["switches", "tools:\n  read: true\n  bash: false\n  edit: never"],
  ["switches on one line", "tools: { bash: false, read: true, edit: never }"],
  ["permissions", "permission:\n  bash: deny\n  read: allow\n  write: ask\n  edit: 'no'"],
  ["permissions on one line", "permission: { bash: deny, edit: deny }"],
  ["permissions without an indent", "permission:\nbash: deny\nedit: deny"],
  ["permissions that a stray line divides", "permission:\n  bash: deny\nx: @y\n  edit: deny"],
])("in broken YAML, denied tools are found in %s", (_form, yaml) => {
  expect(forbiddenIn(yaml)).toEqual({ ...nothing, answers: ["bash", "edit"] });
});

test.each([
  ["readonly", "readonly: true"],
  ["readonly", "- readonly: yes"],
  ["readonly", "{ readonly: maybe"],
  ["is_read_only", "  is_read_only: 'on'"],
  ["permissionMode", "permissionMode: plan"],
  ["approvalMode", "approvalMode: 'plan'"],
  ["sandbox", "  sandbox: Plan"],
  ["permission", "permission: plan"],
])("the key %s makes an agent read-only: %s", (key, yaml) => {
  expect(forbiddenIn(yaml)).toEqual({ ...nothing, modes: [key] });
});

test.each([
  "tools: bash",
  "x: bash\n - bash",
  "read-only: no",
  "readonly: false",
  "readonly:",
  "permissionMode: default",
  "mode: plan",
])("in broken YAML, %j restricts nothing", (yaml) => {
  expect(forbiddenIn(yaml)).toEqual(nothing);
});

test.each([
  ["items below another key", "x: &a\n  - read_file\n- grep_files # why", ["read_file", "grep_files"]],
  ["brackets", "tools:\n  [read_file, grep_files]", ["read_file", "grep_files"]],
  ["no items of a deny-list, and no text", "deny:\n  - bash\nnote: x\n  use bash", []],
])("in broken YAML, tools without a key are found: %s", (_form, yaml, listed) => {
  expect(restrictionsIn(yaml).listed).toEqual(listed);
});
