import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCrew } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const files = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String);

test("tasks and agents are named, shown and addressed as they are typed, in any script", async () => {
  const home = tempFolder();
  const cwd = tempFolder();
  mkdirSync(join(cwd, ".subcrew", "agents"), { recursive: true });
  writeFileSync(
    join(cwd, ".subcrew", "agents", "审查员.md"),
    "---\nname: 审查员\ndescription: 审查\ntools: []\nmodel: m\n---\n审查。\n",
  );
  const m = scripted("表", "页 uses 表", "good");
  const crew = createCrew({ cwd, home, userHome: tempFolder(), trusted: true, env: {}, models: { m } });
  expect((await crew.agents()).agents.map(({ name }) => name)).toContain("审查员");
  const result = await crew.run({
    mode: "team",
    maxConcurrency: 1,
    team: {
      members: [{ role: "检查", agent: "审查员" }],
      tasks: [
        { id: "数据库", task: "设计", assignee: "检查" },
        { id: "前端页", task: "Use {task:数据库}.", assignee: "检查" },
        { id: "до кон ца", task: "Check {task:前端页}", assignee: "检查", depends: ["数据库"] },
      ],
    },
  });
  expect(result).toMatchObject({ status: "ok" });
  expect(Object.keys(result.nodes).toSorted()).toEqual(["team", "до кон ца", "前端页", "数据库"].toSorted());
  expect(m.requests[1]!.messages[0]).toMatchObject({ text: expect.stringContaining("Use 表.") });
  expect(m.requests[2]!.messages[0]).toMatchObject({ text: expect.stringContaining("Check 页 uses 表") });
  for (const path of Object.keys(result.nodes))
    expect(existsSync((await crew.outputFile(result.id, path)) ?? "")).toBe(true);
  const kept = files(join(home, "runs", result.id, "outputs"));
  expect(kept).toHaveLength(4);
  for (const file of kept) expect(file).toMatch(/^[\w.~-]+$/);
});
