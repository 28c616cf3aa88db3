import { expect, test } from "vitest";
import { createCrew, defineAgent } from "../../src/index.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

test("tools of an agent in code may have the names of any program, and an unknown name is reported", async () => {
  let offered: string[] = [];
  const model = scripted((request: ModelRequest) => {
    offered = request.tools.map(({ name }) => name);
    return "done";
  });
  const agent = defineAgent({
    name: "a",
    description: "d",
    instructions: "i",
    tools: ["Read", "Grep", "Bash(git log *)", "Task", "Frobnicate"],
    disallowedTools: ["Grep"],
  });
  const crew = createCrew({
    cwd: tempFolder(),
    env: { HOME: tempFolder(), PATH: "" },
    discover: false,
    models: { m: model },
    agents: [agent],
  });
  const run = crew.run({ mode: "single", agent: "a", task: "Go." });
  const told: string[] = [];
  for await (const event of run) if ("text" in event && event.type !== "turn.ended") told.push(event.text);
  expect((await run).status).toBe("ok");
  expect(offered.toSorted()).toEqual(["Task", "TaskOutput", "bash", "bash_output", "kill_shell", "read_file"]);
  expect(told.join("\n")).toContain('Unknown tool "Frobnicate"');
});
