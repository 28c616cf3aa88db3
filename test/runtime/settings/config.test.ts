import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { hashTexts } from "../../../src/runtime/discovery/files.ts";
import { openTrust } from "../../../src/runtime/settings/trust.ts";
import { tempFolder } from "../../support/temp-folder.ts";

type Files = Readonly<Record<string, string>>;

function crewWith(files: Files, env: Files = {}, more: object = {}): { crew: Crew; root: string } {
  const root = tempFolder({ "work/.git/HEAD": "", ...files });
  const crew = createCrew({
    cwd: join(root, "work"),
    env: { HOME: join(root, "home"), ...env },
    config: true,
    ...more,
  });
  return { crew, root };
}

const user = "home/.subcrew/config.yaml";
const project = "work/.subcrew/config.yaml";

test("a crew reads no settings files unless its options say so", () => {
  const root = tempFolder({ [user]: "concurrency: 3\n" });
  const crew = createCrew({ cwd: root, env: { HOME: join(root, "home"), SUBCREW_CONCURRENCY: "4" } });
  expect(crew.settings.config).toEqual({});
});

test("options of the crew win over all settings", () => {
  const root = tempFolder({ [user]: "concurrency: many\n" });
  expect(
    createCrew({ cwd: root, env: { HOME: join(root, "home") }, config: { concurrency: 2 } }).settings.config,
  ).toEqual({
    concurrency: 2,
  });
});

test("environment variables take precedence over the trusted project's settings, and these over the user's settings", () => {
  const files = { [user]: "model: mine\nconcurrency: 6\n", [project]: "concurrency: 2\n" };
  const { crew, root } = crewWith(files, { SUBCREW_MODEL: "theirs" }, { trusted: true });
  expect(crew.settings.config).toEqual({ model: "theirs", concurrency: 2 });
  expect(crew.settings.placeOf("concurrency")).toEqual({ file: join(root, project), line: 1 });
  expect(crew.settings.placeOf("model")).toBeUndefined();
});

describe("the settings of a project", () => {
  test("have no effect before the project is trusted, and are not even parsed", () => {
    const { crew } = crewWith({ [project]: "{ this is not yaml" });
    expect(crew.settings.config).toEqual({});
    expect(crew.settings.files).toMatchObject([{ layer: "project", trusted: false }]);
  });

  test("that cannot be read stop nothing before the project is trusted, and are an error afterwards", () => {
    for (const files of [
      { [`${project}/is-a-folder`]: "" },
      { [project]: "a".repeat(2_000_000) },
      { [project]: "\ufffe" },
    ]) {
      expect(crewWith(files).crew.settings).toMatchObject({ config: {}, files: [{ trusted: false }] });
      expect(() => crewWith(files, {}, { trusted: true }).crew.settings).toThrow(
        expect.objectContaining({ code: "BAD_CONFIG" }),
      );
    }
  });

  test("that lead to a secret place are not read, and the error shows nothing of it", () => {
    const root = tempFolder({
      "work/.git/HEAD": "",
      "work/.subcrew/agents/.keep": "",
      "home/.aws/credentials": "key: canary\n",
    });
    symlinkSync(join(root, "home/.aws/credentials"), join(root, project));
    const start = () =>
      createCrew({ cwd: join(root, "work"), env: { HOME: join(root, "home") }, config: true, trusted: true });
    expect(() => start().settings).toThrow(/^.*config\.yaml leads to a file that may not be read\.$/);
  });

  test("apply with their trusted content once the project is trusted", async () => {
    const text = "concurrency: 1\nmodel: theirs\non: { run.ended: theirs }\n";
    const { root } = crewWith({ [project]: text });
    const work = join(root, "work");
    const trust = openTrust(join(root, "home/.subcrew/trust.json"));
    await trust.grant(work, { at: "", files: { ".subcrew/config.yaml": hashTexts([text]) } });
    const crew = createCrew({ cwd: work, env: { HOME: join(root, "home") }, config: true });
    expect(crew.settings.config).toEqual({ concurrency: 1 });
    expect(crew.settings.warnings).toEqual([
      `${join(work, ".subcrew/config.yaml")}:3: a project cannot set "on.run.ended", so this setting is ignored.`,
      `${join(work, ".subcrew/config.yaml")}:2: a project cannot set "model", so this setting is ignored.`,
    ]);
  });
});

test("a mistake is reported with file, line and fix", () => {
  const text = "agents:\n  scout:\n    modle: x\n";
  const where = join("home", ".subcrew", "config.yaml");
  expect(() => crewWith({ [user]: text })).toThrow(
    expect.objectContaining({
      code: "BAD_CONFIG",
      message: expect.stringContaining(`${where}:3: "agents.scout" of the configuration has an unknown key "modle".`),
      hint: 'Did you mean "model"?',
    }),
  );
});

test.each([
  ["run.end: x", 'has an unknown key "run.end".', 'Did you mean "run.ended"?'],
  ["text.delta: x", 'has an unknown key "text.delta".', ""],
  ["run.ended: ftp://push.example", '"on.run.ended" of the configuration is not valid.', "http://"],
  ["run.ended: https://", '"on.run.ended" of the configuration is not valid.', "http://"],
  ["run.ended: ' '", '"on.run.ended" of the configuration is empty.', "The run ended."],
])("a hook that cannot be carried out is a mistake of the settings: %s", (hook, message, hint) => {
  expect(() => crewWith({ [user]: `on:\n  ${hook}\n` })).toThrow(
    expect.objectContaining({ message: expect.stringContaining(message), hint: expect.stringContaining(hint) }),
  );
});

test("agents are found in the places of the settings", async () => {
  const agent = (name: string): string => `---\nname: ${name}\ndescription: d\n---\nText\n`;
  const files = {
    "home/.claude/agents/a.md": agent("a"),
    "home/.claude/agents/b.md": agent("b"),
    "home/.gen/agents/c.md": agent("c"),
    [user]:
      "preset: mycode\ndisabled: [a]\nagents:\n  b: { enabled: false }\n  Explore: { model: offline, tools: [Read] }\n",
  };
  const { agents, disabled } = await crewWith(files).crew.agents();
  expect(agents.map(({ name }) => name).sort()).toEqual(["Bash", "Explore", "Plan", "c", "general-purpose"]);
  expect(disabled.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(agents.find(({ name }) => name === "Explore")?.agent).toMatchObject({
    model: "offline",
    tools: ["read_file"],
  });
});

test("settings can enable an agent that a file or a list disables", async () => {
  const files = {
    "home/.agents/agents/x.md": "---\nname: x\ndescription: d\nenabled: false\n---\nText\n",
    [user]: "disabled: [plan, explore]\nagents:\n  x: { enabled: true }\n  plan: { enabled: true }\n",
  };
  const found = await crewWith(files).crew.agents();
  expect(found.agents.map(({ name }) => name)).toEqual(expect.arrayContaining(["x", "plan"]));
  expect([...new Set(found.disabled.map(({ name }) => name))]).toEqual(["explore"]);
});

test("a disabled agent cannot be started, and the error says how to enable it", async () => {
  const { crew } = crewWith({ [user]: "disabled: [explore]\n" });
  await expect(crew.run({ mode: "single", agent: "explore", task: "x" })).rejects.toMatchObject({
    code: "DISABLED",
    hint: expect.stringContaining("subcrew agents enable explore"),
  });
});

test("modules that the user names are loaded relative to the settings file; modules of a project are never loaded", async () => {
  const module = "export const mine = { name: 'mine', description: 'd', instructions: 'I' };\n";
  const files = { [user]: "modules: [./agents.mjs]\n", "home/.subcrew/agents.mjs": module };
  const { agents } = await crewWith(files).crew.agents();
  expect(agents[0]).toMatchObject({ name: "mine", agent: { source: { kind: "inline" } } });
  const theirs = crewWith(
    { [project]: "modules: [./agents.mjs]\n", "work/.subcrew/agents.mjs": module },
    {},
    { trusted: true },
  );
  expect((await theirs.crew.agents()).agents.map(({ name }) => name)).not.toContain("mine");
});

test("limits for all agents apply in a run", async () => {
  const model = scripted(...Array.from({ length: 9 }, () => ({ calls: [{ name: "current_time", input: {} }] })));
  const { crew } = crewWith({ [user]: "limits: { maxTurns: 2 }\n" }, {}, { home: false, models: { mine: model } });
  const result = await crew.run({ mode: "single", agent: "explore", task: "x" });
  expect(result.status).toBe("failed");
  expect(model.requests.length).toBeLessThanOrEqual(3); // two turns, and one more to return a result
});
