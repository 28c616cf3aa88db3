import { expect, test } from "vitest";
import { createCrew, defineAgent } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

test("a task that waits for files says which task holds which of them", async () => {
  const agents = ["one", "two"].map((name) => defineAgent({ name, description: "d", instructions: "i", model: name }));
  const models = { one: scripted("first"), two: scripted("second") };
  const crew = createCrew({ home: false, cwd: tempFolder(), discover: false, env: {}, agents, models });
  const run = crew.run({
    mode: "parallel",
    tasks: [
      { agent: "one", task: "Go.", writes: ["src/**", "docs/a.md"] },
      { agent: "two", task: "Go.", writes: ["src/api.ts"] },
    ],
  });
  const waits: unknown[] = [];
  for await (const event of run) if (event.type === "node.waiting") waits.push({ path: event.path, for: event.for });
  expect(waits).toEqual([{ path: "two", for: [{ task: "one", files: ["src/**"] }] }]);
  expect(await run).toMatchObject({ status: "ok" });
});
