import { join } from "node:path";
import { expect, test } from "vitest";
import { combineLimits } from "../../src/core/vocabulary/limits.ts";
import { gencodeDialect } from "../../src/formats/dialects/gencode.ts";
import { ownDialect } from "../../src/formats/dialects/own.ts";
import { listOf } from "../../src/formats/fields/lists.ts";
import { dialects } from "../../src/formats/table.ts";
import { discover, findAgent, qualifiedNames } from "../../src/runtime/discovery/discover.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { cases } from "./harness.ts";

type Parsed = {
  name: string;
  description: string;
  allowedTools?: string[];
  defaultModel?: string;
  maxTurns?: number;
  type?: string;
  systemPrompt: string;
};
type Verdict = { parsed: Parsed; valid: boolean; problems: string[] } | { throws: string };

const read = (file: string, text: string): ReturnType<typeof gencodeDialect.read> =>
  gencodeDialect.read(text, { file: `/${file}`, relative: file });

test.each(cases<{ file: string; content: string }, Verdict>("002-mycode", "custom-agent-md"))(
  "custom-agent-md: $name",
  async ({ input, want }) => {
    const { agents, problems } = read(input.file, input.content);
    if ("throws" in want) return expect(problems.map(({ message }) => message)).toContain(want.throws);
    const { agent, raw, from } = agents[0]!;
    const { name, description, allowedTools, defaultModel, maxTurns, systemPrompt, type } = want.parsed;
    const cwd = tempFolder({ [`.gen/agents/${input.file}`]: input.content });
    const source = findAgent(await discover({ cwd, home: tempFolder(), dialects, trust }), agent.name)?.agent.source;
    if (type !== undefined) expect(source?.kind === "project" ? "custom" : source).toBe(type);
    expect(agents.length > 0).toBe(want.valid);
    expect(problems.filter(({ severity }) => severity !== "info").map(({ message }) => message)).toEqual(want.problems);
    expect(agent).toMatchObject({ name, description, instructions: systemPrompt });
    expect(agent.model).toBe(defaultModel);
    expect(listOf(raw[from["tools"] ?? "tools"])).toEqual(allowedTools);
    expect(agent.limits?.maxTurns).toBe(maxTurns);
  },
);

test.each(cases<object, { valid: boolean }>("002-mycode", "custom-agent-json"))(
  "custom-agent-json: $name",
  ({ input, want }) => {
    expect(read("agent.json", JSON.stringify(input)).agents.length > 0).toBe(want.valid);
  },
);

const agentFile = (name: string, description: string): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\nBody\n`;
const trust = { project: (): boolean => true };

test.each(cases<{ order?: string[]; custom?: string }, { winner: string }>("002-mycode", "custom-agent-precedence"))(
  "custom-agent-precedence: $name",
  async ({ input, want }) => {
    const places = input.order ?? [];
    const paths = places.map((place) => place.replace("project ", "project/").replace("user ~", "home"));
    const name = input.custom ?? "same";
    const files = Object.fromEntries(paths.map((path, index) => [`${path}/x.md`, agentFile(name, places[index]!)]));
    const root = tempFolder({
      ...files,
      ...(input.custom === undefined ? {} : { "home/.gen/agents/x.md": agentFile(name, "file") }),
    });
    const bundled = ownDialect.read(agentFile("Explore", "built-in"), {
      file: "Explore.md",
      relative: "Explore.md",
    }).agents;
    const where = { cwd: join(root, "project"), home: join(root, "home"), dialects, bundled, trust };
    const mine = await discover({ ...where, preset: "mycode", protectBundled: false });
    expect(findAgent(mine, name)?.agent.description).toBe(want.winner);
    if (input.custom === undefined) return;
    const theirs = await discover({ ...where, preset: "mycode" });
    expect(findAgent(theirs, name)?.agent.description).toBe("built-in");
  },
);

test.each(cases<{ yaml: string }, string[] | null>("002-mycode", "tool-list-yaml"))(
  "tool-list-yaml: $name",
  ({ input, want }) => {
    const { agents } = read("a.md", `---\nname: a\ndescription: d\n${input.yaml}\n---\nBody`);
    const wanted =
      want === null
        ? undefined
        : read("b.md", `---\ndescription: d\ntools: ${want.join(", ")}\n---\n`).agents[0]!.agent.tools;
    expect(agents[0]!.agent.tools).toEqual(wanted);
  },
);

type Defaults = {
  name: string;
  model?: string;
  maxTurns?: number;
  type?: string;
  permissionMode?: string;
  tools?: string;
  source?: string;
};
type Given = { file?: string; plugin?: string; agent?: string };

test.each(cases<Given, Defaults>("002-mycode", "agent-file-defaults"))(
  "agent-file-defaults: $name",
  async ({ input, want }) => {
    if (input.plugin === undefined) {
      const { agent } = read(input.file!, "---\ndescription: d\n---\nBody").agents[0]!;
      const { model = "inherit", permission = "default", tools = "all", limits, name } = agent;
      expect({ name, model, permissionMode: permission, tools, maxTurns: combineLimits(limits).maxTurns }).toEqual(
        want,
      );
      return;
    }
    const root = tempFolder({ [`plugin/agents/${input.agent}.md`]: agentFile(input.agent!, "d") });
    const registry = { version: 2, plugins: { [`${input.plugin}@m`]: [{ installPath: join(root, "plugin") }] } };
    const home = tempFolder({ ".claude/plugins/installed_plugins.json": JSON.stringify(registry) });
    const found = findAgent(await discover({ cwd: root, home, dialects }), `${input.plugin}:${input.agent}`)!;
    expect({ name: qualifiedNames(found)[0], source: found.agent.source?.kind }).toEqual(want);
  },
);
