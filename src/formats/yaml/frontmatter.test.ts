import { describe, expect, test } from "vitest";
import { frontmatterLineOf, readFrontmatter, split } from "./frontmatter.ts";

test.each([
  ["---\na: 1\n---\nB\n", { yaml: "a: 1\n", body: "B" }],
  ["---\na: 1\n---", { yaml: "a: 1\n", body: "" }],
  ["---\n---\nB", { yaml: "", body: "B" }],
  ["--- \na: 1\n---  \nB", { yaml: "a: 1\n", body: "B" }],
  ["\ufeff---\r\na: 1\r\n---\r\nB\r\nC", { yaml: "a: 1\n", body: "B\nC" }],
  ["\n\n---\na: 1\n---\nB", { yaml: "a: 1\n", body: "B" }],
  ["---\na: 1\n----\nb\n---\nB", { yaml: "a: 1\n----\nb\n", body: "B" }],
  ["---\na: 1\nB", { body: "---\na: 1\nB" }],
  ["B\n---\na: 1\n---\n", { body: "B\n---\na: 1\n---" }],
  ["---json\n{}\n---\nB", { body: "", language: "json" }],
  ["--- not a mark\nB", { body: "--- not a mark\nB" }],
  ["", { body: "" }],
])("the text of a file %j is split into frontmatter and body: %j", (text, parts) => expect(split(text)).toEqual(parts));

describe("a repair of broken frontmatter keeps every value", () => {
  const repaired = (yaml: string): object => ({ ...readFrontmatter(`---\n${yaml}\n---\n`).data });
  test.each<[yaml: string, data: object]>([
    ["a: b: c\nn: 5", { a: "b: c", n: 5 }],
    ["a: *\nb: true", { a: "*", b: true }],
    ["a: it's: fine", { a: "it's: fine" }],
    ['a: "x" and: "y"', { a: '"x" and: "y"' }],
    ["a: [x\nb: [1, 2]", { a: "[x", b: [1, 2] }],
    ["a: x: y # z", { a: "x: y # z" }],
    ["a: @me\nb: `tick`\nc: %d", { a: "@me", b: "`tick`", c: "%d" }],
    ["a: one: two\n  three\n  four\nb: 1", { a: "one: two three four", b: 1 }],
    ["a: one:\n- list: of\n- x\nb: 1", { a: "one: - list: of - x", b: 1 }],
    ["a: x: y\nb: |\n  kept: as\n  it is\nc: 2", { a: "x: y", b: "kept: as\nit is\n", c: 2 }],
    ["a: x: y\nb:\n  c: d\n  e: [1]", { a: "x: y", b: { c: "d", e: [1] } }],
    ["a: x: y\nb:\n\tc: d", { a: "x: y", b: { c: "d" } }],
  ])("%j", (yaml, data) => expect(repaired(yaml)).toEqual(data));
});

test("a repair of broken frontmatter is reported with its line in the file", () => {
  expect(readFrontmatter("---\nname: a\ndescription: b: c\n---\n").problems).toMatchObject([
    { code: "repaired", line: 3 },
  ]);
});

test("the strict reader of frontmatter repairs nothing", () => {
  expect(readFrontmatter("---\na: b: c\n---\n", { strict: true })).toMatchObject({
    problems: [{ code: "bad-yaml" }],
  });
});

describe("a flow collection may stand at any indentation, as other parsers read it", () => {
  test.each<[yaml: string, data: object]>([
    ["tools: [\n  'read',\n  'grep'\n]\nb: 1", { tools: ["read", "grep"], b: 1 }],
    ["tools: [\n'read',\n'grep'\n]", { tools: ["read", "grep"] }],
    [
      "d: >\n  text [with\n  brackets\ntools: [\n  a, # one ]\n  b,\n]\nm: x",
      { d: "text [with brackets\n", tools: ["a", "b"], m: "x" },
    ],
    ["p: {\n  a: 1,\n  b: [\n    2\n]\n}\nc: 3", { p: { a: 1, b: [2] }, c: 3 }],
    ["p:\n  q: [\n    'a',\n  ]\nc: 3", { p: { q: ["a"] }, c: 3 }],
  ])("%j", (yaml, data) => {
    const read = readFrontmatter(`---\n${yaml}\n---\n`);
    expect(JSON.parse(JSON.stringify(read.data))).toEqual(data);
    expect([read.recovered, read.problems]).toEqual([undefined, []]);
  });

  test("a list and a folded text next to broken YAML are kept", () => {
    const text = "---\nname: x: y\ndescription: >\n  one\n  two\ntools: [\n  'read'\n]\n---\n";
    const { data, recovered } = readFrontmatter(text);
    expect([data?.["description"], data?.["tools"], recovered]).toEqual(["one two\n", ["read"], "repaired"]);
  });

  test("the line-by-line fallback still reads folded text and multi-line lists", () => {
    const text = "---\n? [\nname: x\ndescription: >\n  one\n  two\ntools: [\n  'read',\n  'grep'\n]\n---\n";
    const { data, recovered } = readFrontmatter(text);
    expect({ ...data, recovered }).toEqual({
      name: "x",
      description: "one two",
      tools: "[\n'read',\n'grep'",
      recovered: "lossy",
    });
  });
});

test.each([
  ["---\nname: a\ntools: x\n---\n", "tools", 3],
  ["\n---\nname: a\n---\n", "name", 3],
  ["---\nname: a: b\ntools: x\n---\n", "tools", 3],
  ["no frontmatter", "tools", undefined],
])("in %j the key %s is on line %s", (text, key, line) => expect(frontmatterLineOf(text, key)).toBe(line));
