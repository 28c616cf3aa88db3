import { expect, test } from "vitest";
import { z } from "zod";
import { type CrewOptions, createCrew, defineTool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { call } from "../support/play.ts";
import { tempFolder } from "../support/temp-folder.ts";

const brew = defineTool({ name: "brew", description: "brews", input: z.object({}), effect: "read", run: () => "tea" });

function crewWith(options: CrewOptions = {}): {
  crew: ReturnType<typeof createCrew>;
  model: ReturnType<typeof scripted>;
} {
  const model = scripted(call("brew", {}), "done");
  const home = tempFolder();
  const crew = createCrew({
    cwd: tempFolder(),
    home,
    env: { PATH: "/usr/bin:/bin", HOME: home },
    tools: [brew],
    models: { m: model },
    model: "m",
    unattended: true,
    ...options,
  });
  return { crew, model };
}

const shown = ({ requests }: ReturnType<typeof scripted>): string[] => requests[0]!.tools.map(({ name }) => name);

test("a task without an agent has the caller's tools, commands and searches, and no delegation", async () => {
  const { crew, model } = crewWith();
  expect(await crew.run({ mode: "single", task: "Make tea." })).toMatchObject({ status: "ok", output: "done" });
  expect(shown(model)).toEqual(expect.arrayContaining(["brew", "bash", "glob", "read_file"]));
  expect(shown(model)).not.toContain("task");
});

test("the agent `general`, requested by name, has its own tools and not the caller's", async () => {
  const { crew, model } = crewWith();
  await crew.run({ mode: "single", agent: "general", task: "Make tea." });
  expect(shown(model)).toEqual(expect.arrayContaining(["bash", "glob"]));
  expect(shown(model)).not.toContain("brew");
});

test("a user's own agent named `general` is the default agent, with exactly its own tools", async () => {
  const { crew, model } = crewWith({
    agents: [{ name: "general", description: "d", instructions: "i", tools: ["brew"] }],
  });
  await crew.run({ mode: "single", task: "Make tea." });
  expect(shown(model)).toEqual(["brew"]);
});

test("the tool list of a call replaces every other tool list", async () => {
  const { crew, model } = crewWith();
  await crew.run({ mode: "single", task: "Make tea.", tools: ["brew"] });
  expect(shown(model)).toEqual(["brew"]);
});

test.each(["omp", "mycode"] as const)("the preset %s has another default agent", async (preset) => {
  const { crew, model } = crewWith({ config: { preset } });
  expect(await crew.run({ mode: "single", task: "Make tea." })).toMatchObject({ status: "ok" });
  expect(shown(model)).toContain("brew");
});
