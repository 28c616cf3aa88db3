import { describe, expect, test } from "vitest";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import { agentRuleText } from "../../core/rules/agent-rule.ts";
import { READ_ONLY_TOOLS, toolMatches } from "../../core/vocabulary/tool-names.ts";
import { claudeDialect } from "../dialects/claude.ts";
import { opencodeDialect } from "../dialects/opencode.ts";
import { ompFields } from "../dialects/omp.ts";
import { ownDialect } from "../dialects/own.ts";
import { subagentDialect } from "../dialects/subagent.ts";
import { markdown } from "./markdown.ts";

const place = { file: "/x/file-name.md", relative: "file-name.md" };
const read = (frontmatter: string, dialect = ownDialect): ReadAgent =>
  dialect.read(`---\ndescription: d\n${frontmatter}\n---\nBody`, place).agents[0]!;

describe("the name of an agent in a Markdown file", () => {
  test.each([
    ["name: Backend Architect", "Backend Architect"],
    ["name: 'SE: UX Designer'", "SE: UX Designer"],
    ["name: Développeur", "Développeur"],
    ["name: a/b", "a-b"],
    ["name: 7", "7"],
    ["x: 1", "file-name"],
  ])("%s is called %s", (frontmatter, name) => expect(read(frontmatter).agent.name).toBe(name));

  test.each(["创意组组长", "XX-创意组组长", "XX-创意", "研究", "カタカナ漢字"])("%s stays as written", (name) => {
    const { agent, aliases } = read(`name: ${name}`);
    expect([agent.name, aliases]).toEqual([name, undefined]);
  });

  test.each(["a,b", "a, b", "__proto__"])("%s is refused", (name) => {
    const { agents, problems } = ownDialect.read(`---\nname: ${name}\ndescription: d\n---\n`, place);
    expect([agents, problems.map(({ code }) => code)]).toEqual([[], ["bad-name"]]);
  });

  test("a word that mixes scripts that resemble each other gets a warning", () => {
    const { problems } = ownDialect.read("---\nname: r\u0435viewer\ndescription: d\n---\n", place);
    expect(problems.map(({ code }) => code)).toContain("mixed-scripts");
  });

  test.each(["__proto__", "..", ".", "-x", "x".repeat(65), " "])("%j is not a valid name", (name) => {
    const { agents } = subagentLike(name);
    expect(agents).toEqual([]);
  });

  test.each(["main", "Main", "MAIN", "sub"])("%s is reserved", (name) => {
    const { agents, problems } = ownDialect.read(`---\nname: ${name}\ndescription: d\n---\n`, place);
    expect([agents, problems[0]?.code]).toEqual([[], "reserved-name"]);
  });

  test("a dialect with its own rule for names keeps it", () => {
    const { agents, problems } = subagentDialect.read("---\nname: Bad Name\n---\n", {
      file: "/x/b/SUBAGENT.md",
      relative: "b/SUBAGENT.md",
    });
    expect([agents, problems.at(-1)?.code]).toEqual([[], "missing-description"]);
    expect(problems.map(({ code }) => code)).toContain("bad-name");
  });
});

describe("keys that narrow an agent are not ignored", () => {
  test.each([
    ["readonly: true", READ_ONLY_TOOLS],
    ["readOnly: true", READ_ONLY_TOOLS],
    ["readonly: maybe", READ_ONLY_TOOLS],
    ["readonly: false", undefined],
    ["readonly: true\ntools: Read, Write", ["read_file"]],
    ["tools: Read, Write\nread-only: yes", ["read_file"]],
    ["permissionMode: plan\ntools: Read, Bash", ["read_file"]],
    ["permissionMode: whatever", READ_ONLY_TOOLS],
    ["permissionMode: bypassPermissions", undefined],
  ])("%s", (frontmatter, tools) => expect(read(frontmatter, claudeLike).agent.tools).toEqual(tools));
});

/** A dialect that keeps names as they are written. */
const subagentLike = (name: string) =>
  ompStrict.read(`---\nname: ${JSON.stringify(name)}\ndescription: d\n---\n`, place);
const ompStrict = markdown({ id: "strict", fields: ompFields });

/** Claude's dialect, which needs a name. */
const claudeLike = {
  ...claudeDialect,
  read: (text: string) => claudeDialect.read(text.replace("---\n", "---\nname: a\n"), place),
};

const EDITS = ["write_file", "edit_file", "delete_file", "move_file"];

describe("permissions of opencode", () => {
  test.each<[rules: string, expected: object]>([
    ["edit: deny", { disallowedTools: ["write_file", "edit_file", "delete_file", "move_file"] }],
    ["bash: ask", { rules: ["ask bash"] }],
    ['bash: { "*": deny }', { disallowedTools: ["bash"] }],
    ['bash: { "*": allow }', {}],
    ['bash: { "git *": allow, "*": ask }', { rules: ["ask bash"] }],
    ['bash: { "*": ask, "git status*": allow }', { rules: ["ask bash", "allow bash(git status *)"] }],
    ['bash: { "rm *": deny, "git push*": ask }', { rules: ["deny bash(rm *)", "ask bash(git push*)"] }],
    ['bash: { "*": maybe }', { disallowedTools: ["bash"] }],
    ['edit: { "**/*.lock": deny }', { rules: EDITS.map((tool) => `deny ${tool}(**/*.lock)`) }],
    [
      '"*": deny\n  bash: { "*": deny, "git *": allow }',
      { tools: ["bash"], rules: ["deny bash", "allow bash(git *)"] },
    ],
    ['"*": ask\n  read: allow', { rules: ["ask *", "allow read_file"] }],
    ['"*": deny\n  read: allow\n  grep: allow', { tools: ["read_file", "grep_files"] }],
    ['read: allow\n  "*": deny', { tools: [] }],
    ['bash: deny\n  "*": allow', {}],
    ["task: allow", { spawns: "*" }],
    ["task: deny", { spawns: [], disallowedTools: ["task"] }],
    ["task: { reader: allow }", { spawns: ["reader"] }],
    ['task: { "*": allow, writer: deny }', { spawns: ["*", "!writer"] }],
    ["lsp: deny", {}],
    ["mytool: deny", { disallowedTools: ["mytool"] }],
  ])("%s", (rules, expected) => {
    const { tools, disallowedTools, spawns, ...agent } = read(`permission:\n  ${rules}`, opencodeDialect).agent;
    expect({ tools, disallowedTools, spawns, rules: agent.rules?.flat().map(agentRuleText) }).toEqual({
      tools: undefined,
      disallowedTools: undefined,
      spawns: undefined,
      rules: undefined,
      ...expected,
    });
  });

  test("one word applies to every tool", () => {
    expect(read("permission: deny", opencodeDialect).agent.tools).toEqual([]);
    expect(read("permission: allow", opencodeDialect).agent.tools).toBeUndefined();
    expect(read("permission: ask", opencodeDialect).agent.rules).toEqual([[{ tool: "*", says: "ask" }]]);
    expect(read("permission: 5", opencodeDialect).agent.tools).toEqual([]);
  });
});

describe("permission rules in subcrew's own agent files", () => {
  test.each<[keys: string, rules: readonly string[], codes: readonly string[]]>([
    [
      "rules: [ask Bash(git push *), deny write_file(docs/**)]",
      ["ask bash(git push *)", "deny write_file(docs/**)"],
      [],
    ],
    ["rules: ask bash", ["ask bash"], []],
    ["rules: [[deny bash], [ask *]]", ["deny bash", "ask *"], []],
    ["rules: [never bash]", ["ask *"], ["bad-value"]],
    ["rules: 5", ["ask *"], ["bad-value"]],
    ["rules: [ask brew(tea)]", ["ask brew(tea)"], ["unknown-tool"]],
  ])("%s", (keys, rules, codes) => {
    const { agents, problems } = ownDialect.read(`---\ndescription: d\n${keys}\n---\nBody`, place);
    expect(agents[0]!.agent.rules?.flat().map(agentRuleText)).toEqual(rules);
    expect(problems.map(({ code }) => code)).toEqual(codes);
  });
});

describe("Claude's files without a required field", () => {
  const readings = (text: string) => {
    const { agents, problems } = claudeDialect.read(text, place);
    return [
      agents[0]?.agent.name,
      agents[0]?.agent.description,
      problems.map(({ code, severity }) => `${severity} ${code}`),
    ];
  };
  test.each<[what: string, text: string, expected: readonly unknown[]]>([
    ["no name", "---\ndescription: d\n---\nx", ["file-name", "d", ["warning missing-name"]]],
    [
      "a description among other data",
      "---\nname: a\nmetadata:\n  description: m\n---\nx",
      ["a", "m", ["warning missing-description"]],
    ],
    [
      "a description that YAML reads as a comment",
      "---\nname: a\ndescription: # Who\ntools: Read\n---\nx",
      ["a", "# Who", ["warning repaired"]],
    ],
    ["no description", "---\nname: a\n---\nx", [undefined, undefined, ["error missing-description"]]],
    [
      "neither",
      "---\ntitle: t\n---\nx",
      [undefined, undefined, ["info unknown-field", "error missing-name", "error missing-description"]],
    ],
  ])("%s", (_, text, expected) => {
    expect(readings(text)).toEqual(expected);
  });
});

test("denying some calls of a tool keeps the tool; denying all its calls removes it", () => {
  expect(read("disallowedTools: Bash(rm:*), Write(*), Agent(a)").agent.disallowedTools).toEqual([
    "bash(rm:*)",
    "write_file",
    "task",
  ]);
});

test.each([
  ["bash: false", ["bash"]],
  ["shell: off", ["bash"]],
  ["Write: deny", ["write_file", "edit_file", "delete_file", "move_file"]],
  ["network: none", ["http_get", "http_post", "http_request", "web_search"]],
  ["bash: true", undefined],
  ["network: {a: b}", undefined],
])("the name of a tool as a key removes the tool if its value refuses it: %s", (line, denied) => {
  const { agents, problems } = ownDialect.read(`---\ndescription: d\n${line}\n---\nBody`, place);
  expect(agents.map(({ agent }) => agent.disallowedTools)).toEqual([denied]);
  expect(problems).toMatchObject([{ code: "unknown-field", severity: denied ? "warning" : "info" }]);
});

test.each(["$()", "x()", "(a)", "bash(rm *)", "rm *"])(
  "the stray line %j after a list of denied tools does not shorten the list",
  (stray) => {
    const { agents } = ownDialect.read(
      `---\ndescription: d\ndisallowedTools: write_file, bash\n${stray}\n---\nBody`,
      place,
    );
    expect(agents[0]?.agent.disallowedTools).toEqual(expect.arrayContaining(["write_file", "bash"]));
  },
);

test.each([
  ["behind a list on one line", "tools: read_file, write_file\n *", ["read_file", "write_file"]],
  ["behind an item", "tools:\n  - read_file\n  - write_file\n    *", ["read_file", "write_file"]],
  ["between words", "tools: read_file * write_file", ["read_file", "write_file"]],
  ["with a letter behind a list", "tools: read_file, write_file\n A*", ["read_file", "write_file"]],
])("a stray * %s gives no tool, and is reported", (_where, lines, expected) => {
  const { agents, problems } = ownDialect.read(`---\ndescription: d\n${lines}\n---\nBody`, place);
  expect(agents.map(({ agent }) => agent.tools)).toEqual([expected]);
  expect(problems).toMatchObject([{ code: "bad-value", message: expect.stringContaining("pattern") as string }]);
});

test.each(["!", "  !", "  -", "  *", "*", "!x", "  ^"])(
  "in a broken list of tools, the stray line %j does not turn the names below it into denied ones",
  (stray) => {
    const text = `---\nname: a\ndescription: d\ntools: [\n${stray}\n  read_file,\nx: {\n  y,\n]\n---\nBody`;
    for (const dialect of [ownDialect, claudeDialect]) {
      const { agents, problems } = dialect.read(text, place);
      expect(problems.map(({ code }) => code)).toContain("recovered");
      expect(agents.map(({ agent }) => ({ tools: agent.tools, denied: agent.disallowedTools }))).toEqual([
        { tools: ["read_file"], denied: undefined },
      ]);
    }
  },
);

describe("in a file with broken YAML, every tool that a line denies stays denied:", () => {
  test.each([
    ["a list that a stray line divides", "disallowedTools:\n  - write_file\nx: @y\n  - bash"],
    ["a list below a stray key", "disallowedTools:\nhooks:\n  - a: [\n- write_file\n- bash"],
    ["a list with comments", "disallowedTools: # all of them\n  - write_file # why\nx: @y\n  - bash # why"],
    ["a list in brackets on a line of its own", "disallowedTools:\n  [write_file, bash]\n{"],
    ["a block of text", "disallowed_tools: >-\nx: @y\n  write_file,\n  bash"],
    ["a map that a stray line divides", 'permission:\n  "bash": "deny"\nx: @y\n  "edit": "deny"'],
    ["a deny-list in permissions", "x:y\npermissions:\n  deny:\n    - bash\n    - write_file"],
    ["switches that a stray line divides", "tools:\n  read: true\n  bash: false\nx: @y\n  edit: false\n  write: false"],
    ["an indented mode", "x: *a\n approvalMode: 'plan'"],
    ["a flag below a key without a name", ":\n readonly: yes"],
    ["an indented list below a block of text", "note: |\n tools: read_file\nx: ]"],
    ["an indented flag", "x: *a\n readonly: yes"],
    ["a list that a stray key turns into switches", "tools:\n  x: y\nx: &a\n+\n  - read_file\n  - grep_files"],
    ["a list in brackets behind switches", "tools:\n  x: true\nx: @y\n  [read_file, grep_files]"],
  ])("%s", (_form, lines) => {
    for (const dialect of [ownDialect, opencodeDialect, claudeDialect]) {
      const { agents, problems } = dialect.read(`---\nname: a\ndescription: d\n${lines}\n---\nBody`, place);
      expect(problems.map(({ code }) => code)).toEqual(
        expect.arrayContaining([expect.stringMatching(/repaired|recovered/)]),
      );
      for (const { agent } of agents) {
        const has = (tool: string): boolean =>
          (agent.tools?.some((each) => toolMatches(each, tool)) ?? true) &&
          !agent.disallowedTools?.some((each) => toolMatches(each, tool));
        expect(["bash", "write_file"].filter(has)).toEqual([]);
      }
    }
  });

  test("tools in an allow list, and tool names in plain text, stay allowed", () => {
    const { agents } = ownDialect.read(
      "---\nname: bash\ndescription: uses: bash\ntools: read_file, bash, edit_file\ndisallowedTools: edit_file\n---\nBody",
      place,
    );
    expect(agents[0]?.agent).toMatchObject({
      name: "bash",
      tools: ["read_file", "bash", "edit_file"],
      disallowedTools: ["edit_file"],
    });
  });
});

test.each(["maxTurns: 1e300", "timeoutMins: 1e300", "maxTurns: 0", "maxTurns: -1", "timeoutMins: .inf"])(
  "%s is not a valid limit, and the problem names the field",
  (line) => {
    const { agents, problems } = ownDialect.read(`---\ndescription: d\n${line}\n---\nBody`, place);
    expect(agents[0]?.agent.limits).toBeUndefined();
    expect(problems.map(({ field }) => field)).toEqual([line.split(":")[0]]);
  },
);

test.each([
  "temperature: -5",
  "temperature: 2.5",
  "temperature: .inf",
  "temperature: '0x1'",
  "topP: 1.1",
  "topP: -0.1",
  "topP: '1e-1'",
])("%s is not a valid model setting, and the problem names the field", (line) => {
  const { agents, problems } = ownDialect.read(`---\ndescription: d\n${line}\n---\nBody`, place);
  expect(agents[0]?.agent).not.toHaveProperty(line.split(":")[0]!);
  expect(problems).toEqual([expect.objectContaining({ field: line.split(":")[0], code: "bad-value" })]);
});

test("a cache time without a unit is not used, and the problem has both readings", () => {
  const { agents, problems } = ownDialect.read("---\ndescription: d\ncache: 5\n---\nBody", place);
  expect(agents[0]?.agent).not.toHaveProperty("cacheMs");
  expect(problems).toMatchObject([{ field: "cache", message: '"cache" has to be a number with a unit: 5s or 5m.' }]);
});

test("one wrong limit does not loosen the others, and each wrong one is named", () => {
  const { agents, problems } = ownDialect.read(
    '---\ndescription: d\nlimits: { maxTurns: 3, graceMs: "5m", maxDurationMs: -1, maxMemoryMB: 200, maxTurn: 9 }\n---\nBody',
    place,
  );
  expect(agents[0]?.agent.limits).toEqual({ maxTurns: 3, maxMemoryMB: 200 });
  expect(problems.map(({ field, message }) => [field, message])).toEqual([
    ["limits", '"limits.graceMs" has to be a whole number that is not negative.'],
    ["limits", '"limits.maxDurationMs" has to be a whole number above zero that is not too large.'],
    ["limits", '"limits.maxTurn" is not a limit.'],
  ]);
});

test("limits that are all wrong are not used", () => {
  const { agents, problems } = ownDialect.read("---\ndescription: d\nlimits: { maxTurns: 0 }\n---\nBody", place);
  expect(agents[0]?.agent.limits).toBeUndefined();
  expect(problems.map(({ code }) => code)).toEqual(["bad-value"]);
});

test.each(["1e300", "9007199254740993", "99999999999999999999", '"99999999999999999999"', "-1", "0.5"])(
  "thinking: %s is not a number of tokens",
  (number) => {
    const { agents, problems } = ownDialect.read(`---\ndescription: d\nthinking: ${number}\n---\nBody`, place);
    expect(agents[0]?.agent.thinking).toBeUndefined();
    expect(problems.map(({ field }) => field)).toEqual(["thinking"]);
  },
);
