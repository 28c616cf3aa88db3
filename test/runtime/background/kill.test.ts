import { expect, test } from "vitest";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { until } from "../../support/until.ts";

const slow: Script = { text: "late", delayMs: 600_000 };
const never = new AbortController().signal;
const crewAt = (home: string, ...turns: readonly Script[]): Crew =>
  createCrew({
    cwd: home,
    home,
    discover: false,
    agents: [{ name: "scout", description: "Looks.", instructions: "Look." }],
    models: { m: scripted(...turns) },
    env: {},
  });
const task = { mode: "single", agent: "scout", task: "Look." } as const;

test("a killed run in a process with other runs is interrupted, the others continue, and it can be resumed", async () => {
  const home = tempFolder();
  const server = crewAt(home, slow, slow);
  const [one, other] = [server.run(task), server.run(task)];
  const works = (id: string) => async () => (await server.kept.look(id)).state.nodes.get("scout")?.open !== undefined;
  await until(works(one.id));
  await until(works(other.id));

  const elsewhere = crewAt(home, "found");
  // the process of this run also serves other runs
  expect(await elsewhere.kept.owner(one.id)).toEqual({ pid: process.pid });
  const receipt = await elsewhere.kept.tell(
    one.id,
    { do: "kill", pid: process.pid },
    { waitMs: 60_000, signal: never },
  );
  expect(receipt?.state).toBe("done");
  await one;
  expect((await elsewhere.kept.look(one.id)).life).toBe("interrupted");
  expect((await elsewhere.kept.records(one.id)).events.map(({ type }) => type)).not.toContain("run.paused");
  expect((await elsewhere.kept.look(other.id)).life).toBe("running");
  expect(await elsewhere.resume(one.id)).toMatchObject({ status: "ok", output: "found" });
  other.cancel();
  await other;
});

test("a kill that was meant for an earlier process of a run does not affect the next process", async () => {
  const home = tempFolder();
  const run = crewAt(home, slow).run(task);
  const elsewhere = crewAt(home);
  await until(async () => (await elsewhere.kept.owner(run.id)) !== undefined);
  const receipt = await elsewhere.kept.tell(run.id, { do: "kill", pid: 1 }, { waitMs: 60_000, signal: never });
  expect(receipt).toMatchObject({ state: "refused" });
  run.cancel();
  expect(await run).toMatchObject({ status: "cancelled" });
});
