// @ts-check

/**
 * Agent files that would cost a careless reader seconds or much memory.
 *
 * @type {Record<string, () => string>}
 */
export const hostileFiles = {
  "10 MB of frontmatter": () => agent(`x: ${"y".repeat(10_000_000)}`),
  "1 MB of frontmatter, below the limit of a file": () => agent(`x: ${"y".repeat(1_000_000)}`),
  "60 KB on one line": () => agent(`x: ${"y ".repeat(30_000)}`),
  "a body of 1 MB on one line": () => agent("", "x".repeat(1_000_000)),
  "160,000 lines that begin with dashes": () => agent("", "--- x\n".repeat(160_000)),
  "aliases that grow": () => agent(bomb()),
  "4,000 anchors": () => agent(lines(4_000, (at) => `k${at}: &a${at} x`)),
  "a merge of merges": () => agent(lines(1_500, (at) => `m${at}: &m${at} { <<: *m${Math.max(0, at - 1)} }`)),
  "100,000 keys": () => agent(lines(100_000, (at) => `k${at}: 1`)),
  "5,000 keys in 60 KB": () => agent(lines(5_000, (at) => `key${at}: 1`)),
  "the same key 8,000 times": () => agent(lines(8_000, () => "key: 1")),
  "brackets 30,000 deep": () => agent(`x: ${"[".repeat(30_000)}${"]".repeat(30_000)}`),
  "60,000 brackets that never close": () => agent(`x: ${"[".repeat(60_000)}`),
  "keys 340 deep": () => agent(lines(340, (at) => `${" ".repeat(at)}k:`)),
  "60 KB of broken YAML with colons": () => agent(`x: ${"a: ".repeat(20_000)}`),
  "4,000 broken lines with colons": () => agent(lines(4_000, (at) => `k${at}: a: b: c`)),
  "broken, then text on 5,000 lines": () => agent(`x: a: b\n${lines(5_000, () => "  more: of it")}`),
  "40,000 quotes": () => agent(`x: ${"\"'".repeat(20_000)}: y`),
  "10,000 escapes": () => agent(`x: "${"\\u0041".repeat(10_000)}": y`),
  "30,000 commas in the tools": () => agent(`tools: ${"a,".repeat(30_000)}`),
  "20,000 parentheses in the tools": () => agent(`tools: ${"a(".repeat(20_000)}`),
  "9,000 unknown tools": () => agent(`tools: [${lines(9_000, (at) => `t${at}`).replaceAll("\n", ",")}]`),
  "900 unknown keys": () => agent(lines(900, (at) => `descriptio${at}: 1`)),
  "a name of 30,000 letters": () => `---\nname: ${"é".repeat(30_000)}\ndescription: d\n---\n`,
  "60,000 spaces and tabs": () => agent(`x:${" \t".repeat(30_000)}: y`),
  "200,000 comments in the body": () => agent("", "<!--".repeat(200_000)),
  "300,000 hidden characters": () => agent("", "\u200b".repeat(300_000)),
  "carriage returns only": () => agent(lines(10_000, (at) => `# ${at}`)).replaceAll("\n", "\r"),
  "NUL bytes": () => "\0".repeat(1_000_000),
};

const lines = (/** @type {number} */ count, /** @type {(index: number) => string} */ line) =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");
const agent = (/** @type {string} */ frontmatter, body = "Body") =>
  `---\nname: hostile\ndescription: d\n${frontmatter}\n---\n${body}\n`;

/** A YAML bomb: nine lists, each with nine references to the previous one. */
function bomb() {
  const names = "abcdefghi".split("");
  return names
    .map(
      (name, at) =>
        `${name}: &${name} [${Array.from({ length: 9 }, () => (at === 0 ? "x" : `*${names[at - 1]}`)).join(",")}]`,
    )
    .join("\n");
}
