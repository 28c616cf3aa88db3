import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeOrigin } from "../../src/core/vocabulary/provenance.ts";
import { createCrew } from "../../src/crew.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import type { FoundAgent } from "../../src/runtime/discovery/discover.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** A base in the home folder, an agent of the project that extends it, settings of both kinds. */
function place(): { crew: Crew; root: string } {
  const root = tempFolder({
    "home/.claude/agents/base.md": [
      "---",
      "name: base",
      "description: The base.",
      "tools: Read, Glob, Bash",
      "disallowedTools: WebFetch",
      "model: haiku",
      "maxTurns: 12",
      "---",
      "Base prompt.",
    ].join("\n"),
    "project/.git/HEAD": "",
    "project/.agents/agents/kid.md": [
      "---",
      "description: >-",
      "  Extends the base",
      "  in two lines.",
      "extends: base",
      "tools: [read_file, grep_files]",
      "timeoutMins: 2",
      "temperature: 0.3",
      "---",
      "Kid prompt.",
    ].join("\n"),
    "project/.subcrew/config.yaml":
      "agents:\n  kid:\n    disallowedTools: [Bash]\n    limits:\n      maxIdleMs: 5000\n",
    "home/.subcrew/config.yaml": [
      "# mine",
      "agents:",
      "  kid:",
      "    thinking: low",
      "    temperature: 0.9",
      "    limits: { maxConcurrentToolCalls: 2 }",
      "limits:",
      "  graceMs: 1000",
    ].join("\n"),
    "home/.claude/agents/kid.md": "---\nname: kid\ndescription: Another one.\n---\nX\n",
  });
  const env = { HOME: join(root, "home"), PATH: "" };
  return { crew: createCrew({ cwd: join(root, "project"), env, config: true, trusted: true }), root };
}

const kidOf = async (crew: Crew): Promise<FoundAgent> =>
  (await crew.agents()).agents.find(({ name }) => name === "kid")!;

test("explain names the right line for each value of an agent that extends another, with overrides in settings and in the call", async () => {
  const { crew, root } = place();
  const call = {
    model: "offline",
    tools: ["read_file", "glob"],
    resourceLimits: { maxTurns: 3 },
    flags: { model: "--model", tools: "--tools", maxTurns: "--max-turns" },
  } as const;
  const { fields, limits, tools, model } = await crew.explain(await kidOf(crew), {
    ...call,
    tools: [...call.tools],
  });
  const short = (text: string): string => text.replaceAll(root, "");
  const lines = (rows: typeof fields): Record<string, string> =>
    Object.fromEntries(rows.map(({ field, origin }) => [field, short(describeOrigin(origin))]));
  expect(lines(fields)).toEqual({
    name: "default (file name)",
    description: "/project/.agents/agents/kid.md:2 (description)",
    instructions: "/project/.agents/agents/kid.md (body)",
    extends: "/project/.agents/agents/kid.md:5 (extends)",
    model: "the call (--model)",
    tools: "the call (--tools)",
    thinking: "settings /home/.subcrew/config.yaml:4 (agents.kid.thinking)",
    temperature: "settings /home/.subcrew/config.yaml:5 (agents.kid.temperature)",
    disallowedTools: "settings /project/.subcrew/config.yaml:3 (agents.kid.disallowedTools)",
  });
  expect(lines(limits)).toMatchObject({
    maxTurns: "the call (--max-turns)",
    maxDurationMs: "/project/.agents/agents/kid.md:7 (timeoutMins)",
    maxConcurrentToolCalls: "settings /home/.subcrew/config.yaml:6 (agents.kid.limits.maxConcurrentToolCalls)",
    maxIdleMs: "settings /project/.subcrew/config.yaml:5 (agents.kid.limits.maxIdleMs)",
    graceMs: "settings /home/.subcrew/config.yaml:8 (limits.graceMs)",
    enforceLimits: "default",
  });
  expect(Object.fromEntries(limits.map(({ field, value }) => [field, value]))).toMatchObject({
    maxTurns: 3,
    maxDurationMs: 120_000,
    maxConcurrentToolCalls: 2,
    maxIdleMs: 5_000,
    graceMs: 1_000,
  });
  const decided = Object.fromEntries(
    tools.map(({ name, allowed, rule, origin }) => [name, [allowed, rule, short(describeOrigin(origin))]]),
  );
  expect(decided).toMatchObject({
    read_file: [true, "in the list of tools", "the call (--tools)"],
    glob: [true, "in the list of tools", "the call (--tools)"],
    grep_files: [false, "not in the list of tools", "the call (--tools)"],
    bash: [
      false,
      "removed by disallowedTools",
      "settings /project/.subcrew/config.yaml:3 (agents.kid.disallowedTools)",
    ],
    http_get: [false, "removed by disallowedTools", "base base: /home/.claude/agents/base.md:5 (disallowedTools)"],
  });
  expect(model.candidates[0]).toMatchObject({ name: "offline", why: "the call asks for offline" });
});

test("explain without a call shows an inherited value with its line in the base agent's file, tool by tool", async () => {
  const { crew, root } = place();
  const { fields, limits, tools, model } = await crew.explain(await kidOf(crew));
  const short = (text: string): string => text.replaceAll(root, "");
  const from = (rows: typeof fields, field: string): string =>
    short(describeOrigin(rows.find((row) => row.field === field)!.origin));
  expect(from(fields, "model")).toBe("base base: /home/.claude/agents/base.md:6 (model)");
  expect(from(fields, "tools")).toBe(
    "base base: /home/.claude/agents/base.md:4 (tools) and /project/.agents/agents/kid.md:6 (tools)",
  );
  expect(from(limits, "maxTurns")).toBe("base base: /home/.claude/agents/base.md:7 (maxTurns)");
  const decided = Object.fromEntries(
    tools.map(({ name, allowed, origin }) => [name, [allowed, short(describeOrigin(origin))]]),
  );
  expect(decided).toMatchObject({
    read_file: [true, "/project/.agents/agents/kid.md:6 (tools)"],
    grep_files: [true, "/project/.agents/agents/kid.md:6 (tools)"],
    glob: [true, "base base: /home/.claude/agents/base.md:4 (tools)"],
  });
  expect(model.warnings.join()).toContain("the agent asks for haiku");
  expect(model.candidates[0]?.name).toBe("offline");
});

test("explain lists a tool of the agent file that does not exist as missing", async () => {
  const root = tempFolder({
    "home/.agents/agents/x.md": "---\nname: x\ndescription: d\ntools: [read_file, task_replay, brew_tea]\n---\nX\n",
  });
  const crew = createCrew({ cwd: root, env: { HOME: join(root, "home") } });
  const found = (await crew.agents()).agents.find(({ name }) => name === "x")!;
  const { tools } = await crew.explain(found);
  expect(tools.find(({ name }) => name === "read_file")).toMatchObject({ allowed: true });
  expect(tools.find(({ name }) => name === "brew_tea")).toMatchObject({ allowed: true, missing: true });
});

test("explain names the user's permissions for tools that they deny", async () => {
  const root = tempFolder({ "home/.subcrew/config.yaml": "concurrency: 2\npermissions:\n  deny: [bash]\n" });
  const crew = createCrew({ cwd: root, env: { HOME: join(root, "home") }, config: true });
  const found = (await crew.agents()).agents.find(({ name }) => name === "code")!;
  const { tools } = await crew.explain(found);
  const { allowed, origin } = tools.find(({ name }) => name === "bash")!;
  expect({ allowed, from: describeOrigin(origin).replaceAll(root, "") }).toEqual({
    allowed: false,
    from: "settings /home/.subcrew/config.yaml:3 (permissions)",
  });
});

describe("tools of MCP servers", () => {
  /** A crew with servers that would create a file if one were started, and an agent whose file has these lines. */
  async function explained(
    lines: readonly string[],
    settings: readonly string[] = [],
    file: string = "home/.claude/agents/kid.md",
  ) {
    const root = tempFolder();
    const mark = join(root, "started");
    const server = (name: string, more = "") => `  ${name}: { command: touch, args: [${mark}]${more} }`;
    write(root, "home/.subcrew/config.yaml", [
      "mcpServers:",
      server("github"),
      server("tickets", ", tools: [search]"),
      server("off", ", enabled: false"),
      ...settings,
    ]);
    write(root, file, ["---", "name: kid", "description: A kid.", ...lines, "---", "Go."]);
    const env = { HOME: join(root, "home"), PATH: "/usr/bin:/bin" };
    const crew = createCrew({ cwd: root, env, config: true, trusted: true });
    const { tools } = await crew.explain(await kidOf(crew));
    expect(existsSync(mark)).toBe(false);
    const theirs = tools.filter(({ name }) => name.includes("__"));
    return theirs.map(({ name, allowed, missing, rule, origin, server: of }) => ({
      [name]: [missing ? "missing" : allowed ? "yes" : "no", rule, describeOrigin(origin).replaceAll(root, "")].join(
        ", ",
      ),
      of: of?.name,
    }));
  }
  const write = (root: string, name: string, lines: readonly string[]): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), lines.join("\n"));
  };
  const off = "no, the server is disabled, settings /home/.subcrew/config.yaml:4 (mcpServers.off.enabled)";

  test("an agent without a tool list gets a pattern for each server, or the tools that the settings of the server list", async () => {
    const all = "yes, no list of tools: everything but delegation, default (no list of tools)";
    expect(await explained([])).toEqual([
      { "github__*": all, of: "github" },
      { tickets__search: all, of: "tickets" },
      { "off__*": off, of: "off" },
    ]);
  });

  test("a tool list allows the tools that it names, denies others, and reports an unknown server as missing", async () => {
    const listed = "in the list of tools, /home/.claude/agents/kid.md:4 (tools)";
    expect(await explained(["tools: Read, mcp__github__create_issue, mcp__sentry__*"])).toEqual([
      {
        "github__*":
          "no, not in the list of tools; add mcp__github__* to allow it, /home/.claude/agents/kid.md:4 (tools)",
        of: "github",
      },
      { github__create_issue: `yes, ${listed}`, of: "github" },
      {
        tickets__search:
          "no, not in the list of tools; add mcp__tickets__* to allow it, /home/.claude/agents/kid.md:4 (tools)",
        of: "tickets",
      },
      { "off__*": off, of: "off" },
      { "sentry__*": `missing, ${listed}`, of: undefined },
    ]);
  });

  test("an agent that names its servers gets no tools of other servers", async () => {
    const file = "home/.agents/agents/kid.md";
    const rows = await explained(["mcpServers: [tickets]"], [], file);
    expect(rows).toContainEqual({
      "github__*": `no, the server is not among the servers of the agent, /${file}:4 (mcpServers)`,
      of: "github",
    });
  });

  test("tools that the agent file or a rule of the user removes are explained with the line that removes them", async () => {
    const rows = await explained(["disallowedTools: mcp__tickets"], ["permissions:", "  deny: [mcp__github__*]"]);
    expect(rows.slice(0, 2)).toEqual([
      {
        "github__*": "no, deny github__*, settings /home/.subcrew/config.yaml:6 (permissions)",
        of: "github",
      },
      {
        tickets__search: "no, removed by disallowedTools, /home/.claude/agents/kid.md:4 (disallowedTools)",
        of: "tickets",
      },
    ]);
  });
});
