import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { createCrew, defineAgent } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { call } from "../../support/play.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const attempts = [
  call("write_file", { path: "a.txt", content: "x" }),
  call("bash", { command: "touch b.txt" }),
  call("move_file", { from: "keep.txt", to: "c.txt" }),
  call("delete_file", { path: "keep.txt" }),
];

const inputs: Readonly<Record<string, object>> = {
  single: { mode: "single", agent: "worker", task: "Go." },
  parallel: {
    tasks: [
      { agent: "worker", task: "One." },
      { agent: "worker", task: "Two." },
    ],
  },
  chain: {
    chain: [
      { agent: "worker", task: "One." },
      { agent: "worker", task: "Two, after {previous}." },
    ],
  },
  race: { race: { task: "Go.", agents: ["worker", "other"] } },
  team: {
    team: {
      tasks: [
        { id: "one", task: "One.", assignee: "m" },
        { id: "two", task: "Two.", assignee: "m", depends: ["one"], review: { reviewer: "m" } },
      ],
      members: [{ role: "m", agent: "worker" }],
    },
  },
  plan: { nodes: { only: { kind: "task", task: { agent: "worker", prompt: "Go." } } }, output: "only" },
};

test.each(Object.entries(inputs))(
  "TOOL-10: plan mode applies to the execution of calls in %s",
  async (_mode, input) => {
    const cwd = tempFolder({ "keep.txt": "kept" });
    const model = scripted(...attempts, "APPROVED done");
    const agent = (name: string) => defineAgent({ name, description: name, instructions: "Work." });
    const crew = createCrew({
      cwd,
      home: tempFolder(),
      env: { PATH: "/usr/bin:/bin" },
      discover: false,
      agents: [agent("worker"), agent("other")],
      models: { m: model },
      model: "m",
      permissions: { mode: "plan", allow: ["write_file", "bash"] },
      unattended: true,
    });
    const run = crew.run(input as never);
    const denied: string[] = [];
    for await (const event of run) if (event.type === "tool.denied") denied.push(event.rule);
    await run;
    expect(denied.length).toBeGreaterThanOrEqual(4);
    expect(new Set(denied)).toEqual(new Set(["mode plan"]));
    expect(readdirSync(cwd)).toEqual(["keep.txt"]);
    const shown = model.requests.flatMap(({ tools }) => tools.map(({ name }) => name));
    expect(["write_file", "bash", "move_file", "delete_file"].filter((name) => shown.includes(name))).toEqual([]);
  },
);
