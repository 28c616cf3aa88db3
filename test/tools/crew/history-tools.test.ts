import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createCrew } from "../../../src/crew.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { openProjectRuns } from "../../../src/runtime/resume/project-runs.ts";
import { createFolderStore } from "../../../src/runtime/store/folder-store.ts";
import { taskList } from "../../../src/tools/crew/task-list.ts";
import { taskReplay } from "../../../src/tools/crew/task-replay.ts";
import { callTool } from "../../support/call-tool.ts";

const root = mkdtempSync(join(tmpdir(), "subcrew-history-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const agent = { name: "scout", description: "Looks.", instructions: "Look.", tools: ["list_files"] };
const crewWith = (cwd: string, ...turns: readonly Script[]) =>
  createCrew({
    cwd,
    home: join(root, "home"),
    userHome: root,
    discover: false,
    agents: [agent],
    models: { m: scripted(...turns) },
    env: {},
  });
const parts = { history: openProjectRuns(createFolderStore(join(root, "home")), root) };

test("task_list shows the runs of this project and how they ended; task_replay shows one again", async () => {
  const good = crewWith(root, { text: "", calls: [{ name: "list_files", input: {} }] }, "Found it.").run({
    mode: "single",
    agent: "scout",
    task: "Find it.",
  });
  await good;
  const bad = crewWith(root, { error: { code: "MODEL_AUTH", message: "no key", retryable: false } }).run({
    mode: "single",
    agent: "scout",
    task: "x",
  });
  await bad;
  const elsewhere = crewWith(join(root, "elsewhere"), "hidden").run({ mode: "single", agent: "scout", task: "x" });
  await elsewhere;

  const list = await callTool(taskList(parts), root, {});
  expect(list).toContain(`${good.id}  completed`);
  expect(list).toContain(`${bad.id}  failed`);
  expect(list).toContain(`${good.id}/scout  scout  ok`);
  expect(list).not.toContain(elsewhere.id);
  expect(await callTool(taskList(parts), root, { status: "failed" })).not.toContain(good.id);

  const replay = await callTool(taskReplay(parts), root, { id: `${good.id}/scout` });
  expect(replay).toContain("scout: asked (scout): Find it.");
  expect(replay).toContain("scout: used list_files");
  expect(replay).toContain("scout: ok: Found it.");
  expect(await callTool(taskReplay(parts), root, { id: elsewhere.id })).toMatch(/not found/);
  expect(await callTool(taskReplay(parts), root, { id: "../../etc" })).toMatch(/not found/);
});
