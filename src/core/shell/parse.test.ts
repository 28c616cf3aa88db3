import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { type ParsedShell, parseShell } from "./parse.ts";

/** The words of every command, or the reason why the line cannot be parsed. */
function words(line: string): (string | undefined)[][] | string {
  const parsed = parseShell(line);
  return "problem" in parsed
    ? parsed.problem
    : parsed.commands.map(({ words: given }) => given.map(({ text }) => text));
}

test.each<[string, (string | undefined)[][]]>([
  ["git log", [["git", "log"]]],
  ["a; b && c || d | e & f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]],
  [`c'ur'"l" \\x 'a b'`, [["curl", "x", "a b"]]],
  ['echo "a $b c" $d x$e ${f}', [["echo", undefined, undefined, undefined, undefined]]],
  ['echo "$(rm x; ls "$(pwd)")" y', [["rm", "x"], ["pwd"], ["ls", undefined], ["echo", undefined, "y"]]],
  ["(a; b) && c", [["a"], ["b"], ["c"]]],
  ["a \\\n b", [["a", "b"]]],
  ["a # b; rm x\nc", [["a"], ["c"]]],
  ["a#b", [["a#b"]]],
  ["echo a$ '$b' \\$c", [["echo", "a$", "$b", "$c"]]],
  ["find . -exec rm {} \\;", [["find", ".", "-exec", "rm", "{}", ";"]]],
  ["", []],
])("the command line %j is parsed into its commands", (line, want) => {
  expect(words(line)).toEqual(want);
});

test("variable assignments and redirections of a command are not part of its words", () => {
  const parsed = parseShell("A=1 B+='x y' cmd x 2>err >>out </in 2>&1 >&2 &>both <<<text >|force <>rw");
  expect(parsed).toEqual({
    commands: [
      {
        words: [{ text: "cmd" }, { text: "x" }],
        sets: ["A", "B"],
        redirects: [
          { writes: true, target: { text: "err" } },
          { writes: true, target: { text: "out" } },
          { writes: false, target: { text: "/in" } },
          { writes: true, target: { text: "both" } },
          { writes: true, target: { text: "force" } },
          { writes: true, target: { text: "rw" } },
        ],
      },
    ],
  } satisfies ParsedShell);
});

test("the parser of command lines marks file name patterns and home folders", () => {
  expect(parseShell("ls *.ts ~/x '*' \"~\"")).toEqual({
    commands: [
      {
        words: [
          { text: "ls" },
          { text: "*.ts", glob: true },
          { text: "~/x", home: true },
          { text: "*" },
          { text: "~" },
        ],
        sets: [],
        redirects: [],
      },
    ],
  });
});

test.each([
  "`id`",
  'echo "`id`"',
  "echo $((1+1))",
  "echo $[1+1]",
  "echo ${a:=b}",
  "echo ${a@P}",
  "echo ${!a}",
  "echo ${a[0]}",
  "echo $'a'",
  'echo $"a"',
  "cat <<E\nE",
  "cat <(id)",
  "tee >(id)",
  "f() { id; }",
  "function f { id; }",
  "if a; then b; fi",
  "for i in a; do b; done",
  "while a; do b; done",
  "case a in b) c;; esac",
  "{ a; }",
  "! a",
  "[[ a ]]",
  "((a))",
  "coproc a",
  "echo {a,b}",
  "a{1..3}",
  "echo 'a",
  'echo "a',
  "echo a\\",
  "(a",
  "a)",
  "a $(b",
  "a ;; b",
  "a && && b",
  "; a",
  "a=(b c)",
  "a[0]=b",
  "echo @(a|b)",
  "a (b)",
  "a\r\nb",
  "a\0b",
  "a\xA0b",
  "echo ‮abc",
  "echo 'a​b'",
  "a\x1B[2Kb",
  "cat <& x",
  "cat >",
  "$(".repeat(25) + ")".repeat(25),
  "ec\\\nho a",
  "echo $\\\na",
  'echo "$\\\na"',
])("the command line %j is not parsed", (line) => {
  expect(parseShell(line)).toHaveProperty("problem");
});

test("a command line that is too long is not parsed", () => {
  expect(parseShell("x".repeat(70_000))).toHaveProperty("problem");
});

test("the parser of command lines agrees with bash", () => {
  const folder = tempFolder();
  const piece = fc.constantFrom(
    "a",
    "b",
    "-x",
    "'",
    '"',
    "\\",
    " ",
    " ",
    "\t",
    "=",
    "#",
    "~",
    "$",
    ",",
    "@",
    "%",
    "{}",
    "!",
    "\\\n",
    "''",
    ":",
  );
  const line = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(line, (given) => {
      const parsed = parseShell(`args ${given}`);
      if ("problem" in parsed) return;
      const [only, ...more] = parsed.commands;
      if (more.length > 0 || only?.words.some(({ text, home, glob }) => text === undefined || home || glob)) return;
      const printed = execFileSync("/bin/bash", ["--norc", "-c", `args() { printf '%s\\0' "$@"; }; args ${given}`], {
        cwd: folder,
        env: {},
      });
      const got = printed.toString("utf8").split("\0").slice(0, -1);
      expect(only?.words.slice(1).map(({ text }) => text)).toEqual(
        got.length === 1 && got[0] === "" && only?.words.length === 1 ? [] : got,
      );
    }),
    { numRuns: 120 },
  );
});
