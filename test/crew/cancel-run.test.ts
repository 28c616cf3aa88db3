import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { createCrew } from "../../src/crew.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import { never } from "../../src/models/scripted/scripted.ts";
import { cancelRun, cancelTask } from "../../src/runtime/background/cancel-run.ts";

const reason = "enough";
const { signal } = new AbortController();

/** A paused run, and the crew that knows it. */
async function pausedRun(): Promise<{ crew: Crew; id: string }> {
  const crew = createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    discover: false,
    env: {},
    model: "stuck",
    models: { stuck: never },
  });
  const run = crew.run({ tasks: [{ task: "a" }, { task: "b" }] });
  for await (const event of run) if (event.type === "turn.started") run.pause();
  return { crew, id: run.id };
}

/** The crew, whose first look at the owner of a run is outdated: another process takes over the run right after it. */
function withTakeOver(crew: Crew): Crew {
  let asked = 0;
  const owner = async (id: string): ReturnType<Crew["kept"]["owner"]> => {
    if (asked++ > 0) return crew.kept.owner(id);
    const taken = crew.resume(id);
    for await (const event of taken) if (event.type === "run.resumed") break;
    return undefined;
  };
  return { ...crew, kept: { ...crew.kept, owner } };
}

test("when another process takes over a run during its cancellation, that process cancels the run", async () => {
  const { crew, id } = await pausedRun();
  expect(await cancelRun(withTakeOver(crew), { id, reason, signal })).toBe("cancelled");
});

test("when another process takes over a run while one of its tasks is being cancelled, that process cancels the task", async () => {
  const { crew, id } = await pausedRun();
  const receipt = await cancelTask(withTakeOver(crew), { id, path: "task_1", reason, signal });
  expect(receipt).toMatchObject({ state: "done" });
  expect(await cancelRun(crew, { id, reason, signal })).toBe("cancelled");
});
