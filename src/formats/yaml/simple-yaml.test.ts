import fc from "fast-check";
import { CORE_SCHEMA, load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { readSimpleYaml } from "./simple-yaml.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

const MAX_KEYS = 1000;
const RUNS = Number(process.env["FAST_CHECK_RUNS"] ?? propertyRuns(20_000));

/** The value that the full parser reads, or why it reads none. */
function parsed(text: string): { value: unknown } | "broken" | "duplicate" {
  try {
    return { value: load(text, { schema: CORE_SCHEMA }) };
  } catch (error) {
    return /duplicat/.test(String(error)) ? "duplicate" : "broken";
  }
}

/** True when both read the same; `undefined` when the simple reader leaves the text to the parser. */
function agrees(text: string): boolean | undefined {
  const simple = readSimpleYaml(text, MAX_KEYS);
  if (simple === undefined) return undefined;
  const whole = parsed(text);
  if ("broken" in simple) return whole === "broken";
  return typeof whole !== "string" && same({ ...simple.value }, whole.value);
}

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]));
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return Object.is(a, b);
  const [left, right] = [Object.entries(a), Object.entries(b)];
  return (
    left.length === right.length &&
    left.every(([key, value], at) => key === right[at]![0] && same(value, right[at]![1]))
  );
}

const word = fc.constantFrom(
  ..."a B true True null Null ~ no yes on 0 1 -1 +1 1e3 0x1F 0o17 .5 .inf -.inf .nan 1. 1_000 007 2026-01-05 12:30 a:b c: :d".split(
    " ",
  ),
  ..."# #e f#g * & ! % @ ` | > - -- --- ... ? , [ ] { } ' '' \" \\ \\n \\u00e9 \\x41 é 日 👩 \u00a0 \ufeff \u2028 < << <example> = $x ~/x".split(
    " ",
  ),
  "it's",
  'say "so"',
  "",
  " ",
  "\t",
);
const tame = fc.constantFrom("a", "Use it", "reads,", "x.y", "(z)", "Grep", "no", "12", "true");
const words = fc.array(fc.oneof({ weight: 5, arbitrary: tame }, word), { maxLength: 5 }).map((list) => list.join(" "));
const space = fc.constantFrom("", " ", "", "\n  ", "\n", "\n    ");
const comma = fc.constantFrom(", ", ",", " , ", ",\n  ", ",\n   ", "\n  ,", ",\n", ", # c\n  ");
const colon = fc.constantFrom(": ", ": ", ":", ":  ", " : ", ":\n   ");
const value = fc.oneof(
  { weight: 4, arbitrary: words },
  words.map((text) => `"${text}"`),
  words.map((text) => `'${text.replaceAll("'", "''")}'`),
  words.map((text) => `'${text}'`),
  fc.string({ maxLength: 12 }),
  fc.string({ maxLength: 12, unit: "binary" }),
  fc.array(words, { maxLength: 4 }).map((list) => `[${list.join(", ")}]`),
  fc.array(word, { maxLength: 4 }).map((list) => `[${list.join(",")}]`),
  fc.array(words, { maxLength: 4 }).map((list) => JSON.stringify(list)),
  fc.constantFrom("|", ">", "|-", ">-", "|+", ">2", "| # c"),
  fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      words,
      words.map((text) => JSON.stringify(text)),
      fc
        .tuple(space, fc.array(tie("node"), { maxLength: 3 }), comma)
        .map(([pad, list, by]) => `[${pad}${list.join(by)}${pad}]`),
      fc
        .tuple(
          space,
          fc.array(fc.tuple(fc.constantFrom("a", "b", "c d", '"e"', "1"), colon, tie("node")), { maxLength: 3 }),
          comma,
        )
        .map(([pad, pairs, by]) => `{${pad}${pairs.map((pair) => pair.join("")).join(by)}${pad}}`),
    ),
  })).node,
);
const key = fc.oneof(
  { weight: 12, arbitrary: fc.stringMatching(/^[a-z][a-z_-]{0,8}$/) },
  fc.constantFrom("true", "Null", "1", "a b", "a:b", "__proto__", '"q"', "?", "- k", "<<", "é", ""),
);
const indent = fc.constantFrom("", "", " ", "  ", "  ", "    ", "\t");
const entry = fc.tuple(key, fc.constantFrom(": ", ": ", ": ", ":", ":  ", " : "), value).map((parts) => parts.join(""));
const item = fc.tuple(indent, fc.constantFrom("- ", "- ", "-", "-  "), value).map((parts) => parts.join(""));
const loose = fc.tuple(indent, words).map((parts) => parts.join(""));
const comment = fc.tuple(indent, words).map(([space, text]) => `${space}# ${text}`);
const odd = fc.constantFrom("", "", "  ", "---", "...");
/** A key with its value, valid or nearly valid. */
const chunk = fc.oneof(
  { weight: 8, arbitrary: entry },
  fc.tuple(key, fc.array(item, { maxLength: 3 })).map(([name, items]) => [`${name}:`, ...items].join("\n")),
  fc
    .tuple(key, fc.constantFrom("|", ">", "|-", ">-"), fc.array(fc.oneof(loose, odd), { maxLength: 3 }))
    .map(([name, header, lines]) => [`${name}: ${header}`, ...lines].join("\n")),
  fc
    .tuple(key, indent, fc.array(entry, { minLength: 1, maxLength: 3 }))
    .map(([name, space, entries]) => [`${name}:`, ...entries.map((text) => space + text)].join("\n")),
  fc
    .tuple(key, indent, fc.array(fc.tuple(entry, entry), { minLength: 1, maxLength: 2 }))
    .map(([name, space, pairs]) =>
      [`${name}:`, ...pairs.flatMap(([one, two]) => [`${space}- ${one}`, `${space}  ${two}`])].join("\n"),
    ),
  fc.oneof(item, loose, comment, odd),
);
/** Such lines below a key, so that each kind of line occurs at each depth. */
const deep = fc
  .tuple(key, fc.constantFrom("  ", " ", "    "), fc.array(chunk, { minLength: 1, maxLength: 3 }))
  .map(([name, space, chunks]) => `${name}:\n${chunks.join("\n").replaceAll(/^/gm, space)}`);
const texts = fc.tuple(
  fc.array(fc.oneof({ weight: 3, arbitrary: chunk }, deep), { maxLength: 4 }),
  fc.constantFrom("\n", ""),
);

describe("the simple reader reads the same as the full parser", () => {
  test("on any text built from parts of frontmatter", () => {
    let read = 0;
    fc.assert(
      fc.property(texts, ([chunks, last]) => {
        const agreed = agrees(chunks.join("\n") + last);
        if (agreed) read++;
        return agreed !== false;
      }),
      { numRuns: RUNS },
    );
    expect(read / RUNS).toBeGreaterThan(0.05); // the test proves nothing if everything is left to the full parser
  });

  test("on simple frontmatter, of which it reads nearly all by itself", () => {
    const safe = fc.stringMatching(/^[A-Za-z<(][\w ,.;()!?é日]{0,40}$/).filter((text) => text.trim() !== "");
    const plainKey = fc.stringMatching(/^[a-z][a-z_-]{0,12}$/).filter((name) => !/^(?:true|false|null)$/.test(name));
    const simple = fc.oneof(
      fc.tuple(plainKey, safe).map(([name, text]) => `${name}: ${text}`),
      fc.tuple(plainKey, safe).map(([name, text]) => `${name}: ${JSON.stringify(text)}`),
      fc
        .tuple(plainKey, fc.array(safe, { minLength: 1, maxLength: 4 }))
        .map(([name, list]) => [`${name}:`, ...list.map((text) => `  - ${text}`)].join("\n")),
      fc
        .tuple(plainKey, fc.constantFrom("|", ">", ">-"), fc.array(safe, { minLength: 1, maxLength: 4 }))
        .map(([name, header, list]) => [`${name}: ${header}`, ...list.map((text) => `  ${text}`)].join("\n")),
      fc.tuple(plainKey, fc.double()).map(([name, number]) => `${name}: ${number}`),
    );
    let missed = 0;
    fc.assert(
      fc.property(fc.uniqueArray(simple, { minLength: 1, maxLength: 6, selector: keyOf }), (entries) => {
        const agreed = agrees(`${entries.join("\n")}\n`);
        if (agreed === undefined) missed++;
        return agreed !== false;
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
    expect(missed).toBeLessThan(RUNS / 8);
  });
});

const keyOf = (entry: string): string => entry.slice(0, entry.indexOf(":"));

test.each([
  "name: a\ndescription: Reads it.\ntools: Read, Grep\n",
  'a: [x, y]\nb: []\nc: ["x y", "z"]\nd:\n- 1\n- two\ne:\n',
  "a: >-\n  one\n  two\n\n  three\nb: |\n  one\n    two\n\n\nc: 'it''s'\n",
  "a:\n  b: c\n  d:\n    - e: 1\n      f: [x]\n    - g\n  # no\n\n  h:\n  - i\n  - j: |\n      k\nl: m\n",
  "a: { b: c, d: [e, { f: 1 }] }\nb:\n  [x,\n   'y z', \"q\"]\nc: []\nd: {}\n",
  'a: "line\\nline \\"q\\" \\u00e9"\nb: 1.5\nc: true\nd: ~\ne: .inf\n# done\n',
])("the simple reader reads %j", (text) => {
  expect(agrees(text)).toBe(true);
});

test.each([
  ["name: a\ndescription: Use it: always\n", 'the value of "description" contains ": " and is not in quotes', 2],
  ["tools: *\n", 'the "*" of "tools" is not in quotes', 1],
])("the simple reader reports the mistake in %j", (text, broken, line) => {
  expect(readSimpleYaml(text, MAX_KEYS)).toEqual({ broken, line });
  expect(parsed(text)).toBe("broken");
});

test.each([
  ["nothing", ""],
  ["only a comment", "# a\n"],
  ["a duplicate key", "a: 1\na: 2\n"],
  ["a list in brackets that continues at the margin", "a: [b,\nc]\n"],
  ["keys that are nested 20 deep", Array.from({ length: 20 }, (_, at) => `${" ".repeat(at)}k:`).join("\n")],
  ["an anchor", "a: &x y\n"],
  ["an alias", "a: *x\n"],
  ["a tag", "a: !!str 1\n"],
  ["text that continues on the next line", "a: one\n  two\n"],
  ["a comment behind a value", "a: b # c\n"],
  ["text below a key, with spaces on an empty line", "a:\n  b: |\n    c\n  \n      \n"],
  ["two documents", "a: b\n---\nc: d\n"],
  ["more keys than allowed", Array.from({ length: MAX_KEYS + 1 }, (_, at) => `k${at}: 1`).join("\n")],
])("the simple reader leaves %s to the parser", (_what, text) => {
  expect(readSimpleYaml(text, MAX_KEYS)).toBeUndefined();
});
