import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import type { Agent } from "../../src/core/agent/agent.ts";
import { ALL_TOOLS, READ_ONLY_TOOLS, toolMatches } from "../../src/core/vocabulary/tool-names.ts";
import { readConfig } from "../../src/formats/config.ts";
import { dialects } from "../../src/formats/table.ts";
import { builtinTools } from "../../src/tools/table.ts";
import { mutated, type Tries } from "./mutate.ts";

const root = join(import.meta.dirname, "..", "..");

/** All agent files in this project, as material to mutate: those of the program, and those in other formats. */
function samples(): string[] {
  const folders = [join(root, "agents"), join(root, "test/formats/dialects/fixtures")];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  return files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, "utf8").slice(0, 4_000));
}

/**
 * FUZZ-01: for any content of a file, no dialect throws, the prototype of objects is not changed, and the fields of a
 * resulting agent have their types. `slowest` is told how long the slowest file took.
 */
export function filesAreRead(tries: Tries, slowest: (ms: number) => void = () => {}): void {
  const before = Object.getOwnPropertyNames(Object.prototype).join();
  let longest = 0;
  fc.assert(
    fc.property(mutated(samples()), fc.constantFrom(...Object.values(dialects)), (text, dialect) => {
      const began = performance.now();
      const reading = dialect.read(text.slice(0, 64 * 1024), { file: "/x/agent.md", relative: "agent.md" });
      longest = Math.max(longest, performance.now() - began);
      for (const { agent } of reading.agents) expect(faultsIn(agent)).toEqual([]);
      for (const { message } of reading.problems) expect(typeof message).toBe("string");
    }),
    tries,
  );
  expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
  expect(Object.keys({})).toEqual([]);
  slowest(longest);
}

type Kind = (value: unknown) => boolean;
const text: Kind = (value) => typeof value === "string";
const texts: Kind = (value) => Array.isArray(value) && value.every(text);
const data: Kind = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const flag: Kind = (value) => typeof value === "boolean";
const number: Kind = (value) => typeof value === "number" && Number.isFinite(value);
const oneOf =
  (...kinds: readonly Kind[]): Kind =>
  (value) =>
    kinds.some((kind) => kind(value));

/** The type of each field of an agent, written independently of the program. */
const fields: Readonly<Record<string, Kind>> = {
  name: (value) => text(value) && value !== "",
  description: text,
  instructions: text,
  tools: texts,
  disallowedTools: texts,
  model: oneOf(text, texts),
  thinking: oneOf(text, number, data, flag),
  limits: data,
  output: oneOf(data, text, (value) => value === null),
  summaryChars: number,
  summary: (value) => value === "last" || value === "all",
  projectInstructions: (value) => value === "on" || value === "off",
  sandbox: (value) => value === "read-only",
  conversation: (value) => value === "fork",
  delegationRule: (value) => value === "own" || value === "ceiling",
  modelLock: flag,
  completion: (value) => ["tool", "tool-or-text", "text"].includes(String(value)),
  outputName: text,
  spawns: oneOf(texts, (value) => value === "*"),
  delegation: texts,
  extends: text,
  displayName: text,
  whenToUse: text,
  documentation: text,
  temperature: number,
  topP: number,
  permission: (value) => ["plan", "default", "acceptEdits", "auto", "dontAsk", "bypass"].includes(String(value)),
  skills: texts,
  background: flag,
  hidden: flag,
  isolation: (value) => value === "worktree",
  runner: text,
  memory: (value) => ["user", "project", "local"].includes(String(value)),
  cacheMs: number,
  inputs: data,
  remote: data,
  source: data,
  rules: Array.isArray,
  mcpServers: data,
};

function faultsIn(agent: Agent): string[] {
  return Object.entries(agent).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return fields[name]?.(value) ? [] : [`${name} is ${JSON.stringify(value)?.slice(0, 80)}`];
  });
}

/** One line that does not belong into frontmatter, does not mention tools and does not end it. */
const line = fc.oneof(
  fc.constantFrom(
    ...[
      "*",
      "bash",
      "x: a: b",
      "x: [",
      "x: {",
      "x: 'open",
      'x: "open',
      "x: *a",
      "x: &a",
      "  x: y",
      "\tx: y",
      "- x",
      "? x",
      "x",
      ":",
    ],
    ...[
      "x: !!js/function y",
      "x: |",
      "x: >-",
      "x: @y",
      "x: %y",
      "x: `y",
      "<<: *a",
      "x: [a, b",
      "x: }",
      "\u00a0x: y",
      "x:\ty",
    ],
  ),
  fc.string({ unit: "grapheme-ascii", maxLength: 20 }).filter((text) => !/tool|-{3}|'|"|permission|access/i.test(text)),
);

/** FUZZ-01: a file that has to be repaired never has more tools than it names, or than the read-only ones. */
export function repairsOnlyNarrow(tries: Tries): void {
  // A name that is not a tool gives nothing.
  const named = new Set([...READ_ONLY_TOOLS, "read_file", "grep_files", "write_file"]);
  const others = [ALL_TOOLS, ...builtinTools().keys()].filter((tool) => !named.has(tool));
  fc.assert(
    fc.property(line, fc.nat(3), fc.constantFrom("own", "omp", "pi", "claude", "qwen", "factory"), (odd, at, id) => {
      const lines = ["name: careful", "description: is careful", "tools: read_file, grep_files, write_file"];
      lines.splice(at, 0, odd);
      const file = `---\n${lines.join("\n")}\n---\nBe careful.\n`;
      const reading = dialects[id]!.read(file, { file: "/x/careful.md", relative: "careful.md" });
      for (const { agent } of reading.agents) {
        expect(agent.tools, file).toBeDefined();
        expect(
          agent.tools?.filter((tool) => others.some((other) => toolMatches(tool, other))),
          file,
        ).toEqual([]);
      }
    }),
    tries,
  );
}

/** The forms in which a list can be written. */
const spelledList = fc.constantFrom(
  (names: readonly string[]) => ` ${names.join(", ")}`,
  (names: readonly string[]) => ` [${names.join(", ")}]`,
  (names: readonly string[]) => `\n${names.map((name) => `  - ${name}`).join("\n")}`,
  (names: readonly string[]) => ` "${names.join(", ")}"`,
);

/**
 * FUZZ-01: with any stray lines in a file, its denied tools stay denied and its mode is not wider; Windows line ends
 * and a byte order mark make no difference.
 */
export function bansAreKept(tries: Tries): void {
  const READS = { file: "/x/careful.md", relative: "careful.md" };
  const key = fc.constantFrom("disallowedTools", "disallowed-tools", "disallowed_tools", "deniedTools");
  const stray = fc.array(fc.tuple(line, fc.nat(4)), { maxLength: 2 });
  // A file in plan mode has only read-only tools, so not all files are in plan mode.
  const file = fc
    .tuple(spelledList, spelledList, key, fc.boolean(), stray)
    .map(([tools, bans, banKey, plans, odds]) => {
      const fields = [
        "name: careful",
        "description: is careful",
        `tools:${tools(["read_file", "write_file", "bash"])}`,
        `${banKey}:${bans(["write_file", "bash"])}`,
        ...(plans ? ["permissionMode: plan"] : []),
      ];
      for (const [odd, at] of odds) fields.splice(at, 0, odd);
      return { text: `---\n${fields.join("\n")}\n---\nBe careful.\n`, plans };
    });
  fc.assert(
    fc.property(file, fc.constantFrom("own", "claude", "qwen", "omp"), ({ text, plans }, id) => {
      const read = (given: string) => dialects[id]!.read(given, READS).agents.map(({ agent }) => agent);
      const agents = read(text);
      for (const agent of agents) {
        const may = (tool: string): boolean =>
          (agent.tools?.some((each) => toolMatches(each, tool)) ?? true) &&
          !agent.disallowedTools?.some((each) => toolMatches(each, tool));
        expect({ write: may("write_file"), bash: may("bash") }, text).toEqual({ write: false, bash: false });
        if (plans) expect(agent.permission, text).toBe("plan");
      }
      expect(read(text.replaceAll("\n", "\r\n")).map(rightsOf), text).toEqual(agents.map(rightsOf));
      expect(read(`\ufeff${text}`).map(rightsOf), text).toEqual(agents.map(rightsOf));
    }),
    tries,
  );
}

/** Further forms of lists, as lines: over several lines, with comments, in brackets, as a map. */
const listLines = fc.constantFrom<((names: readonly string[]) => readonly string[])[]>(
  (names) => [` ${names.join(", ")}`],
  (names) => [` [${names.map((name) => `"${name}"`).join(", ")}]`],
  (names) => [` '${names.join(", ")}'`],
  (names) => ["", ...names.map((name) => `  - ${name}`)],
  (names) => ["", ...names.map((name) => `- "${name}"`)],
  (names) => ["", ...names.map((name) => `\t- ${name}`)],
  (names) => [" [", ...names.map((name) => `  ${name},`), "]"],
  (names) => [" |", ...names.map((name) => `  ${name}`)],
  (names) => [" >-", ...names.map((name) => `  ${name},`)],
  (names) => [` ${names[0]},`, ...names.slice(1).map((name) => `  ${name}`)],
  (names) => ["", `  [${names.join(", ")}]`],
  (names) => [" # all of them", ...names.map((name) => `  - ${name} # why`)],
);

/** Ways to deny bash and writing files, as the lines of a field. */
const restriction = fc.oneof(
  fc
    .tuple(fc.constantFrom("disallowedTools", "disallowed-tools", "deniedTools", "excludedTools"), listLines)
    .map(([key, list]) => {
      const [first, ...more] = list(["write_file", "bash"]);
      return [`${key}:${first}`, ...more];
    }),
  listLines.map((list) => {
    const [first, ...more] = list(["read_file", "grep_files"]);
    return [`tools:${first}`, ...more];
  }),
  fc.constantFrom(
    ...[
      ["permission:", "  bash: deny", "  edit: deny"],
      ["permission: { bash: deny, edit: deny }"],
      ["permissions:", "  deny:", "    - bash", "    - write_file"],
      ["permissions:", "  deny: [bash, write_file]"],
      ["tools:", "  bash: false", "  edit: false", "  write: false", "  read: true"],
      ["deniedTools:", "  write_file: true", "  bash: true"],
      ["readonly: true"],
      ["permissionMode: plan"],
      ["approvalMode: 'plan'"],
    ],
  ),
);

const MARKDOWN_DIALECTS =
  "own omp pi gencode claude opencode copilot cursor qwen factory goose kiro openhands deepagents subagent".split(" ");

/**
 * FUZZ-01: wherever stray lines stand in the frontmatter of any dialect, also in the middle of a list, a file whose
 * YAML had to be repaired does not get the tools that it denies or leaves out.
 */
export function restrictionsAreKept(tries: Tries): void {
  const odd = line.filter((text) => !/bash|\*|write/i.test(text));
  const file = fc
    .tuple(restriction, fc.boolean(), fc.array(fc.tuple(odd, fc.nat(20)), { minLength: 1, maxLength: 3 }))
    .map(([field, isFirst, odds]) => {
      const lines = ["name: careful", "description: is careful"];
      lines.splice(isFirst ? 0 : 2, 0, ...field);
      for (const [stray, at] of odds) lines.splice(at % (lines.length + 1), 0, stray);
      return `---\n${lines.join("\n")}\n---\nBe careful.\n`;
    });
  fc.assert(
    fc.property(file, fc.constantFrom(...MARKDOWN_DIALECTS), (text, id) => {
      const place = { file: "/x/careful/SUBAGENT.md", relative: "careful/SUBAGENT.md" };
      const { agents, problems } = dialects[id]!.read(text, place);
      // nothing was repaired, so the YAML is valid
      if (!problems.some(({ code }) => code === "repaired" || code === "recovered")) return;
      for (const { agent } of agents)
        expect(
          ["bash", "write_file"].filter((tool) => mayUse(agent, tool)),
          `${id}\n${text}`,
        ).toEqual([]);
    }),
    tries,
  );
}

const mayUse = ({ tools, disallowedTools, permission }: Agent, tool: string): boolean =>
  permission !== "plan" &&
  (tools?.some((each) => toolMatches(each, tool)) ?? true) &&
  !disallowedTools?.some((each) => toolMatches(each, tool));

const rightsOf = ({ name, tools, disallowedTools, permission }: Agent) => ({
  name,
  tools,
  disallowedTools,
  permission,
});

/** Settings are read or refused, and the reader never throws. */
export function settingsAreRead(tries: Tries): void {
  const sample =
    "model: offline\nconcurrency: 3\npermissions:\n  mode: plan\n  allow: [read_file]\nbackground:\n  maxRuns: 2\n";
  fc.assert(
    fc.property(mutated([sample]), (given) => {
      expect(typeof readConfig(given)).toBe("object");
    }),
    tries,
  );
}
