import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { toolsNamed } from "../../src/core/vocabulary/tool-names.ts";
import { discoverAgents } from "../../src/compat/omp/discover-agents.ts";
import { readBundledAgents } from "../../src/formats/bundled.ts";
import { parseAgentFields } from "../../src/formats/agent-fields.ts";
import { withoutComments } from "../../src/formats/dialects/omp.ts";
import { parseArrayOrCSV } from "../../src/formats/fields/lists.ts";
import { thinkingOf } from "../../src/formats/fields/rules.ts";
import { readFrontmatter, split } from "../../src/formats/yaml/frontmatter.ts";
import { readLines } from "../../src/formats/yaml/repair.ts";
import { parsePluginRegistry, pluginEntry } from "../../src/runtime/discovery/plugins.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { cases } from "./harness.ts";

type Frontmatter = { frontmatter: unknown; body: string } | { throws: string };

test.each(cases<{ content: string; level: string }, Frontmatter>("000-omp", "frontmatter"))(
  "frontmatter: $name",
  ({ input, want }) => {
    if ("throws" in want)
      return expect(() => readBundledAgents({ broken: input.content })).toThrow(
        expect.objectContaining({ code: want.throws }),
      );
    const { data, body } = readFrontmatter(input.content, { strict: input.level === "fatal" });
    expect({ frontmatter: { ...data }, body: withoutComments(body) }).toEqual(want);
  },
);

test("the line reader reads a file that no other reader accepts as system 000 does", () => {
  const { yaml } = split("---\nname: a\nthinking-level: high\n  nested: x\ndescription: [bad\n---\nB");
  expect({ ...readLines(yaml!).data }).toEqual({ name: "a", description: "[bad" });
});

test.each(cases<{ frontmatter: Record<string, unknown> }, unknown>("000-omp", "agent-fields"))(
  "agent-fields: $name",
  ({ input, want }) => expect(parseAgentFields(input.frontmatter)).toEqual(want),
);

test.each(cases<{ frontmatter: Record<string, unknown> }, { tools?: string[] }>("000-omp", "agent-fields-later"))(
  "agent-fields-later: $name",
  ({ input, want }) => {
    const { tools, ...fields } = parseAgentFields(input.frontmatter)!;
    const { tools: wanted, ...rest } = want;
    expect(fields).toMatchObject(rest);
    if (wanted !== undefined) expect(canonical(tools!)).toEqual(canonical(wanted));
  },
);

test.each(cases<{ value: unknown }, unknown>("000-omp", "thinking-level"))("thinking-level: $name", ({ input, want }) =>
  expect(thinkingOf(input.value) ?? null).toBe(want),
);

test.each(cases<{ value: unknown }, unknown>("000-omp", "array-or-csv"))("array-or-csv: $name", ({ input, want }) =>
  expect(parseArrayOrCSV(input.value) ?? null).toEqual(want),
);

type Place = { home: string; cwd: string; files: Record<string, string> };

test.each(cases<Place, Record<string, unknown>>("000-omp", "discovery"))(
  "discovery: $name",
  async ({ input, want }) => {
    const root = tempFolder();
    for (const [written, text] of Object.entries(input.files))
      lay(root, written, text.replaceAll('"H/', `"${root}/H/`));
    mkdirSync(join(root, input.cwd), { recursive: true });
    const found = await discoverAgents(join(root, input.cwd), { home: join(root, input.home), preset: "omp" });
    for (const [key, value] of Object.entries(want)) {
      if (key === "errors" || key === "warnings") expect(found.skipped).toHaveLength(value as number);
      else if (key === "source") expect(found.agents.find(({ name }) => name in want)?.source).toBe(value);
      else expect(found.agents.find(({ name }) => name === key)?.description ?? null).toBe(value);
    }
  },
);

/** `a -> b` is a link; `plugin x` is in an installed plugin. */
function lay(root: string, written: string, text: string): void {
  const [path, target] = written.split(" -> ") as [string, string?];
  const inPlugin = path.startsWith("plugin ");
  const file = join(root, inPlugin ? `H/plugin/${path.slice("plugin ".length)}` : path);
  mkdirSync(dirname(file), { recursive: true });
  if (inPlugin) {
    const registry = { version: 2, plugins: { "p@m": [{ scope: "user", installPath: join(root, "H/plugin") }] } };
    lay(root, "H/.claude/plugins/installed_plugins.json", JSON.stringify(registry));
  }
  if (target === undefined) return writeFileSync(file, text);
  writeFileSync(join(dirname(file), target), text);
  symlinkSync(target, file);
}

describe("plugin-registry", () => {
  type Input = { content?: unknown; entry?: unknown; entries?: number };
  test.each(cases<Input, null | { scope?: string; roots?: number }>("000-omp", "plugin-registry"))(
    "plugin-registry: $name",
    ({ input, want }) => {
      if (input.entry !== undefined) {
        const entry = pluginEntry("p", input.entry);
        expect(entry === undefined ? null : { scope: entry.scope }).toEqual(want);
      } else if (input.entries === undefined) expect(parsePluginRegistry(input.content)).toBe(want);
      else {
        const entries = Array.from({ length: input.entries }, (_, index) => ({ installPath: `/p${index}` }));
        expect(parsePluginRegistry({ version: 2, plugins: { "p@m": entries } })).toHaveLength(want!.roots!);
      }
    },
  );
});

const canonical = (names: readonly string[]): string[] => [...new Set(names.flatMap((name) => toolsNamed(name)))];
