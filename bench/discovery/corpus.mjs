// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * The location of the agent files, for subcrew and for the other compared programs.
 *
 * @typedef {{ cwd: string, home: string, directories: string[], files: number, bytes: number }} Corpus
 * @typedef {() => number} Random
 * @typedef {{ name: string, index: number, random: Random }} Subject
 */

/**
 * Five directories for four file formats; two of them are the project's and the user's directory of the same format.
 */
const places = [
  { path: "project/.subcrew/agents", ending: ".md", shapes: "any" },
  { path: "project/.claude/agents", ending: ".md", shapes: "any", nested: true },
  { path: "home/.claude/agents", ending: ".md", shapes: "any", nested: true },
  { path: "project/.gemini/agents", ending: ".md", shapes: "strict" },
  { path: "project/.github/agents", ending: ".agent.md", shapes: "any" },
];

/**
 * Writes realistic agent files into a new folder.
 *
 * @param {number} count
 * @param {number} seed
 * @returns {Corpus & { remove(): void }}
 */
export function writeCorpus(count, seed) {
  const folder = mkdtempSync(join(tmpdir(), "subcrew-bench-"));
  const random = mulberry32(seed);
  let bytes = 0;
  for (let index = 0; index < count; index += 1) {
    const place = places[index % places.length];
    if (!place) throw new Error("there is no directory for the file");
    const again = random() < 0.05 ? index - 1 : index; // one file in twenty has the name of its neighbour in another directory
    const subject = { name: `agent-${Math.max(0, again)}`, index, random };
    const text = place.shapes === "strict" ? strict(subject) : chosen(subject);
    const below = place.nested && index % 3 === 0 ? `team-${index % 7}/` : "";
    const file = join(folder, place.path, `${below}agent-${index}${place.ending}`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    bytes += Buffer.byteLength(text);
  }
  return {
    cwd: join(folder, "project"),
    home: join(folder, "home"),
    directories: places.map(({ path }) => join(folder, path)),
    files: count,
    bytes,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * The number of files of each shape in a hundred; about three are broken, as among published files.
 *
 * @type {Array<[share: number, write: (subject: Subject) => string]>}
 */
const shapes = [
  [30, (it) => file(it, [`description: ${sentence(it)}`, `tools: ${toolsOf(it).join(", ")}`, "model: sonnet"])],
  [14, (it) => file(it, [`description: "${examples(it)}"`, "color: cyan", "model: inherit"])],
  [
    14,
    (it) =>
      file(it, [`description: ${sentence(it)}`, "tools:", ...toolsOf(it).map((tool) => `  - ${tool}`), "model: opus"]),
  ],
  [10, (it) => file(it, ["description: >-", `  ${sentence(it)}`, `  ${sentence(it)}`, "tools: [Read, Grep, Glob]"])],
  [8, (it) => file(it, ["description: |", `  ${sentence(it)}`, "", "  - one", "  - two", "maxTurns: 12"])],
  [8, (it) => file(it, [`description: ${sentence(it)} ✅ größer`, "tools: Read, Bash", "color: '#ff8800'"])],
  [
    6,
    (it) =>
      file(it, [
        `description: ${sentence(it)}`,
        "version: 1.2.0",
        "author: somebody",
        "tags: [review, quality, ci]",
        "category: development",
        "priority: high",
        "metadata:",
        "  updated: 2026-01-05",
        "  origin: { team: core, level: 3 }",
      ]),
  ],
  [
    4,
    (it) =>
      file(it, [
        `description: ${sentence(it)}`,
        "tools: Read, Grep, mcp__tickets__list, Bash(git log:*)",
        "hooks:",
        "  PreToolUse:",
        "    - matcher: Bash",
        "      hooks:",
        "        - type: command",
        "          command: ./check.sh",
      ]),
  ],
  [3, (it) => file(it, [`description: ${sentence(it)}`, "tools: Read"]).replaceAll("\n", "\r\n")],
  [2, (it) => file(it, [`description: Use it when: ${sentence(it)}`, "tools: Read, Write"])],
  [1, (it) => file(it, [`description: ${sentence(it)}`, "tools: *"])],
];

/** @param {Subject} subject */
function chosen(subject) {
  let left = subject.random() * 100;
  for (const [share, write] of shapes) {
    left -= share;
    if (left < 0) return write(subject);
  }
  return file(subject, []);
}

/**
 * Frontmatter that Gemini accepts.
 *
 * @param {Subject} subject
 */
const strict = (subject) =>
  file(subject, [
    "kind: local",
    `description: ${sentence(subject)}`,
    "tools:",
    "  - read_file",
    "  - grep_search",
    "model: gemini-2.5-pro",
    "temperature: 0.2",
    "max_turns: 15",
  ]);

/**
 * @param {Subject} subject
 * @param {readonly string[]} lines
 */
const file = (subject, lines) => `---\nname: ${subject.name}\n${lines.join("\n")}\n---\n\n${body(subject)}`;

/** @param {Subject} subject */
function body(subject) {
  const { random } = subject;
  const paragraphs = 3 + Math.floor(random() ** 3 * 40);
  const text = Array.from({ length: paragraphs }, (_, at) =>
    at % 4 === 0
      ? `## Part ${at}\n`
      : Array.from({ length: 2 + Math.floor(random() * 3) }, () => sentence(subject)).join(" "),
  );
  return `You are agent ${subject.index}.\n\n${text.join("\n\n")}\n`;
}

const words =
  "review the change and say what would break in production before anybody else looks at it with care for tests data errors names".split(
    " ",
  );

/** @param {Subject} subject */
function sentence({ random }) {
  const said = Array.from({ length: 7 + Math.floor(random() * 10) }, () => words[Math.floor(random() * words.length)]);
  return `${said.join(" ")}.`;
}

/** @param {Subject} subject */
function examples(subject) {
  const one = () =>
    `<example>Context: ${sentence(subject)} user: \\"${sentence(subject)}\\" assistant: \\"${sentence(subject)}\\"</example>`;
  return `Use this agent when ${sentence(subject)}\\n\\nExamples:\\n\\n${one()}\\n\\n${one()}`;
}

const tools = ["Read", "Grep", "Glob", "Bash", "Edit", "Write", "WebFetch", "TodoWrite"];

/** @param {Subject} subject */
const toolsOf = ({ random }) => tools.slice(0, 1 + Math.floor(random() * tools.length));

/**
 * @param {number} seed
 * @returns {Random}
 */
function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
