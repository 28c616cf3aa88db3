import { join } from "node:path";
import { expect, test } from "vitest";
import { createCrew, defineAgent, listen } from "./lab.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { ourServer, PATH, workerCrew } from "../../a2a/lab.ts";

test("a main agent with three parallel children, one of them over A2A and one in its own process, is one run with one cost", async () => {
  const turn = (text: string, cost: number) => ({ text, usage: { input: 10, output: 5 }, cost });
  const server = await ourServer(workerCrew([turn("from another machine", 0.25)]));
  const tasks = ["near", "far", "boxed"].map((agent) => ({ agent, task: `ask ${agent}`, name: agent }));
  const scripts = {
    lead: [
      { calls: [{ name: "parallel", input: { tasks, gitContext: false } }], cost: 0.0625 },
      turn("all three answered", 0.0625),
    ],
    near: [turn("from here", 0.5)],
    boxed: [{ calls: [{ name: "bash", input: { command: "echo $PPID" } }], cost: 0.5 }, turn("from a process", 0.5)],
  };
  const folder = tempFolder(
    Object.fromEntries(Object.entries(scripts).map(([name, turns]) => [`${name}.json`, JSON.stringify(turns)])),
  );
  const agent = (name: string, more: object = {}) =>
    defineAgent({ name, description: name, instructions: "Work.", model: `scripted:${name}.json`, ...more });
  const crew = createCrew({
    cwd: folder,
    home: join(folder, "state"),
    discover: false,
    env: { PATH, HOME: folder, FAR_TOKEN: server.token },
    permissions: { mode: "bypass", sandbox: "off" },
    network: { allowHosts: [server.host] },
    agents: [
      agent("lead", { tools: ["*", "parallel"], delegation: ["parallel"], spawns: "*" }),
      agent("near"),
      agent("boxed", { runner: "process" }),
      defineAgent({
        name: "far",
        description: "far",
        instructions: "",
        remote: { cardUrl: server.card(), auth: { type: "bearer", token: "$FAR_TOKEN" } },
      }),
    ],
  });

  const { result, events } = await listen(crew.run({ mode: "single", agent: "lead", task: "Ask them all." }));

  expect(result).toMatchObject({ status: "ok", output: "all three answered" });
  expect(new Set(events.map(({ run }) => run))).toEqual(new Set([result.id]));
  const ended = events.flatMap((event) =>
    event.type === "node.ended" && event.path.startsWith("lead")
      ? [[event.path.split("/").at(-1), "output" in event.outcome ? event.outcome.output : event.outcome]]
      : [],
  );
  expect(Object.fromEntries(ended)).toMatchObject({
    near: "from here",
    far: "from another machine",
    boxed: "from a process",
  });
  const shell = events.find((event) => event.type === "tool.ended" && event.tool === "bash");
  expect(shell).toMatchObject({ error: false });
  expect(shell?.type === "tool.ended" && shell.text).not.toMatch(new RegExp(`\\b${process.pid}\\b`));
  // The local and remote costs of the others are one sum.
  expect(result.cost).toEqual({ usd: 0.0625 * 2 + 0.5 + 0.25 + 0.5 + 0.5, unpriced: 0 });
});
