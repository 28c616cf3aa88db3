import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { permit } from "../../src/core/policy/permit.ts";
import type { Tool } from "../../src/core/task/tool.ts";
import { type ToolClass, toolClasses } from "../../src/core/vocabulary/tool-class.ts";
import { READ_ONLY_TOOLS, toolNames } from "../../src/core/vocabulary/tool-names.ts";
import { readBundledAgents } from "../../src/formats/bundled.ts";
import { builtinTools } from "../../src/tools/table.ts";

const tools = builtinTools();
const bundled = readBundledAgents().map(({ agent }) => agent);

/** Everything that an agent of ours could access if all approvals were given. */
const touches = (name: string, family?: string): Tool[] => {
  const agent = bundled.find((one) => one.name === name && one.source?.family === family)!;
  return [...tools.values()].filter((tool) => permit(agent, tool.name).allowed);
};

/** Every tool by its kind of access: a new tool needs a row here. */
const classes: Readonly<Record<ToolClass, readonly string[]>> = {
  read: [
    "get_file_info",
    "glob",
    "grep_files",
    "list_files",
    "memory_list",
    "memory_read",
    "read_file",
    "skill",
    "task_list",
    "task_replay",
  ],
  write: ["delete_file", "edit_file", "move_file", "write_file"],
  exec: ["bash"],
  net: ["http_get", "http_post", "http_request", "web_search"],
  spawn: ["task"],
  memory: ["memory_append", "memory_patch", "memory_write"],
  none: [
    "ask",
    "base64_decode",
    "base64_encode",
    "bash_output",
    "current_time",
    "get_env",
    "json_parse",
    "json_stringify",
    "kill_shell",
    "notify",
    "report_finding",
    "send_message",
    "set_env",
    "sleep",
    "todo",
  ],
};

describe("TOOL-12: every tool declares what it accesses", () => {
  test.each([...tools.values()])("$name", ({ name, does, effect }) => {
    expect(toolClasses).toContain(does);
    expect(Object.entries(classes).find(([, names]) => names.includes(name))?.[0]).toEqual(does);
    if (does === "write" || does === "exec" || does === "memory" || does === "spawn") expect(effect).toEqual("write");
    expect(toolNames).toContain(name);
  });

  test("no file of a tool is missing in the table", () => {
    const files = readdirSync(join(import.meta.dirname, "../..", "src", "tools"), { recursive: true }).map((file) =>
      basename(String(file), ".ts").replaceAll("-", "_"),
    );
    for (const name of toolNames.filter((each) => files.includes(each))) expect(tools.has(name), name).toBe(true);
  });
});

test("TOOL-12: the table in docs/tools.md equals that of the tools (vitest -u writes it)", async () => {
  const file = join(import.meta.dirname, "../..", "docs", "tools.md");
  const page = readFileSync(file, "utf8");
  const rows = [...tools.keys()].sort().map((name) => {
    const { does, effect, description } = tools.get(name)!;
    return `| \`${name}\` | ${does} | ${effect} | ${description.split(/(?<=\.)\s/)[0]} |`;
  });
  const table = ["| tool | touches | effect | what it does |", "|---|---|---|---|", ...rows].join("\n");
  const fresh = page.slice(0, page.indexOf("| tool |")) + table + page.slice(page.indexOf("\n<!-- end -->"));
  await expect(fresh).toMatchFileSnapshot(file);
});

describe("TOOL-06: read-only tools cannot change anything", () => {
  /** Tools that read, access nothing, or load something from the web. */
  const looks = ({ does, effect }: Tool): boolean =>
    does === "read" || does === "none" || (does === "net" && effect === "read");

  test.each([undefined, "pegasus"])("explore of %s", (family) => {
    const allowed = touches("explore", family);
    expect(allowed.length).toBeGreaterThan(5);
    expect(allowed.filter((tool) => !looks(tool)).map(({ name }) => name)).toEqual([]);
    for (const name of [
      "set_env",
      "http_post",
      "http_request",
      "memory_write",
      "memory_append",
      "memory_patch",
      "task",
      "bash",
      "write_file",
    ]) {
      expect(allowed.map((tool) => tool.name)).not.toContain(name);
    }
  });

  test("plan, which may write notes", () => {
    expect(
      touches("plan", "pegasus")
        .filter((tool) => !looks(tool))
        .map(({ name }) => name),
    ).toEqual(["memory_append", "memory_write"]);
  });

  test("an agent that gets the read-only tools", () => {
    const allowed = [...tools.values()].filter(({ name }) => READ_ONLY_TOOLS.includes(name));
    expect(allowed.filter((tool) => !looks(tool)).map(({ name }) => name)).toEqual([]);
  });
});

describe("the documented sets of 001", () => {
  const later = ["task_list", "task_replay"];
  const explore = [
    "current_time",
    "get_env",
    "read_file",
    "list_files",
    "get_file_info",
    "grep_files",
    "http_get",
    "web_search",
    "json_parse",
    "base64_decode",
    "memory_list",
    "memory_read",
    "notify",
  ];
  const general = [
    ...explore,
    "sleep",
    "set_env",
    "write_file",
    "delete_file",
    "move_file",
    "edit_file",
    "http_post",
    "http_request",
    "json_stringify",
    "base64_encode",
    "memory_write",
    "memory_patch",
    "memory_append",
  ];
  test.each([
    ["explore", explore],
    ["plan", [...explore, "memory_write", "memory_append"]],
    ["general", general],
  ])("%s", (name, wanted) => {
    expect(
      touches(name, "pegasus")
        .map((tool) => tool.name)
        .filter((tool) => !later.includes(tool))
        .sort(),
    ).toEqual([...wanted].sort());
  });
});
