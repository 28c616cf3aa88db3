import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectCrew } from "../../../test/support/stage.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";

const agentFile = (name: string): string => `---\nname: ${name}\ndescription: d\n---\nWork.`;

test("an agent file that was written just before a search is found, even in the same turn of the event loop", async () => {
  const cwd = tempFolder({ ".omp/agents/early.md": agentFile("early") });
  const crew = projectCrew(cwd, { models: {} });
  const names = async (): Promise<string[]> => (await crew.agents()).agents.map(({ name }) => name);
  expect(await names()).toContain("early");
  writeFileSync(join(cwd, ".omp/agents/late.md"), agentFile("late"));
  expect(await names()).toContain("late");

  const [first, second] = [names(), names()];
  writeFileSync(join(cwd, ".omp/agents/later.md"), agentFile("later"));
  const third = names();
  for (const found of await Promise.all([first, second, third])) expect(found).toContain("late");
  expect(await third).toContain("later");
});

test("several searches for agents in one turn of the event loop share one scan", async () => {
  const crew = projectCrew(tempFolder(), { models: {} });
  const [first, second] = await Promise.all([crew.agents(), crew.agents()]);
  expect(second).toBe(first);
});
