import { expect, test } from "vitest";
import type { Script } from "../../../src/models/scripted/scripted.ts";
import { killed } from "../../support/killed-run.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { crewOf } from "../../support/stage.ts";
import { until } from "../../support/until.ts";

const main = { tools: ["*", "task"], delegation: ["task", "Task"] };

const stuck: Script = async () => {
  await new Promise(() => {});
  return "never";
};
const begin = { mode: "single", agent: "main", task: "Begin." } as const;

test("an interrupted batch is requested again, and its finished tasks are not repeated", async () => {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const tasks = [
    { id: "A", assignment: "quick", agent: "quick" },
    { id: "B", assignment: "slow", agent: "slow" },
  ];
  const call: Script = { calls: [{ name: "task", input: { agent: "quick", tasks } }] };
  const { crew } = crewOf(
    { main: { ...main, says: [call] }, quick: { says: ["quickly found"] }, slow: { says: [stuck] } },
    { home, cwd },
  );
  const run = crew.run(begin);
  await until(
    () => run.state.nodes.get("main/A")?.status === "ok" && run.state.nodes.get("main/B")?.doing === "thinking",
  );
  const left = await killed(run, home);
  const told: Script = ({ messages }) => JSON.stringify(messages.at(-1));
  const next = crewOf(
    { main: { ...main, says: [told] }, quick: { says: [] }, slow: { says: ["slowly found"] } },
    { home: left, cwd },
  );
  const { status, output } = await next.crew.resume(run.id);
  expect(status).toBe("ok");
  expect(output).toContain("2/2 tasks succeeded.");
  expect(output).toMatch(/quickly found.*slowly found/s);
  expect(next.models["quick"]!.requests).toHaveLength(0);
});

test("nodes that had ended before a run was interrupted are not recorded again", async () => {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const plan = {
    mode: "chain",
    chain: [
      { agent: "quick", task: "Find." },
      { agent: "slow", task: "Use {previous}." },
    ],
  } as const;
  const { crew } = crewOf({ quick: { says: ["found"] }, slow: { says: [stuck] } }, { home, cwd });
  const run = crew.run(plan);
  await until(() => run.state.nodes.get("slow")?.doing === "thinking");
  const left = await killed(run, home);
  const next = crewOf({ quick: { says: [] }, slow: { says: ["used"] } }, { home: left, cwd });
  const resumed = next.crew.resume(run.id);
  const ended: string[] = [];
  for await (const event of resumed) if (event.type === "node.ended") ended.push(event.path);
  expect(await resumed).toMatchObject({ status: "ok", output: "used" });
  expect(ended).toEqual(["quick", "slow"]);
});

test("a lead whose run was interrupted is told which helpers did not finish", async () => {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const input = { description: "slow", prompt: "Be slow.", subagent_type: "slow", run_in_background: true };
  const call: Script = { calls: [{ name: "Task", input }] };
  const { crew } = crewOf({ main: { ...main, says: [call, stuck] }, slow: { says: [stuck] } }, { home, cwd });
  const run = crew.run(begin);
  const isThinking = (path: string): boolean => run.state.nodes.get(path)?.doing === "thinking";
  await until(() => isThinking("main/slow") && isThinking("main"));
  const left = await killed(run, home);
  const told: Script = ({ messages }) =>
    JSON.stringify(messages).includes("have not finished: main/slow.") ? "I was told" : "nobody told me";
  const next = crewOf({ main: { ...main, says: [told] }, slow: { says: [] } }, { home: left, cwd });
  expect(await next.crew.resume(run.id)).toMatchObject({ output: "I was told" });
});
