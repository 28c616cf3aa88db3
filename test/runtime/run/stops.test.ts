import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Event } from "../../../src/core/run/event.ts";
import { defineTool } from "../../../src/core/task/tool.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { never, type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import type { Run } from "../../../src/runtime/run/run.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const uses = (line: string): Script => ({ text: `now ${line}`, calls: [{ name: "leave", input: { line } }] });

type Stage = Readonly<{ crew: Crew; done: string[]; model: ReturnType<typeof scripted> }>;

/** A crew whose tool writes a line whenever it runs. */
function stage(home: string, ...turns: readonly Script[]): Stage {
  const done: string[] = [];
  const leave = defineTool({
    name: "leave",
    description: "Leaves a line.",
    input: z.object({ line: z.string() }),
    effect: "write",
    run: ({ line }) => {
      done.push(line);
      return `done: ${line}`;
    },
  });
  const model = scripted(...turns);
  const crew = createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    models: { m: model, stuck: never },
    tools: [leave],
    agents: [{ name: "worker", description: "Works.", instructions: "Work.", tools: ["leave"] }],
    permissions: { mode: "bypass" },
  });
  return { crew, done, model };
}

/** Iterates over a run and calls a function at an event. */
async function when(run: Run, is: (event: Event) => boolean, act: () => void): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of run) {
    events.push(event);
    if (is(event)) act();
  }
  return events;
}

const hang: Script = { text: "late", delayMs: 600_000 };
const single = { mode: "single", agent: "worker", task: "go" } as const;
const third = (event: Event): boolean => event.type === "turn.started" && event.turn === 3;

test("a pause is in the journal before any task is stopped, so a busy machine cannot delay it", async () => {
  const home = tempFolder();
  const { crew } = stage(home, uses("one"), hang);
  const run = crew.run(single);
  const journal = join(home, "runs", run.id, "journal.jsonl");
  let seen = "";
  await when(
    run,
    (event) => event.type === "turn.started" && event.turn === 2,
    () => {
      run.pause("enough");
      seen = readFileSync(journal, "utf8"); // reads the journal in the same turn of the event loop as the pause
    },
  );
  expect(seen).toContain('"type":"run.paused"');
  expect(await run).toMatchObject({ status: "paused" });
});

test("a run that is paused in its third turn continues there: no request or call is repeated", async () => {
  const home = tempFolder();
  const first = stage(home, uses("one"), uses("two"), { text: "late", delayMs: 60_000 });
  const run = first.crew.run(single);
  await when(run, third, () => run.pause("enough for today"));
  expect(await run).toMatchObject({ status: "paused" });
  const second = stage(home, "three");
  const events: Event[] = [];
  const again = second.crew.resume(run.id);
  for await (const event of again) events.push(event);
  expect(await again).toMatchObject({ status: "ok", output: "three" });
  expect([...first.done, ...second.done]).toEqual(["one", "two"]);
  expect(second.model.requests).toHaveLength(1);
  // The model reads the same conversation as if it had never been stopped.
  expect(second.model.requests[0]?.messages).toEqual(first.model.requests[2]?.messages);
  expect(events.filter(({ type }) => type === "node.started")).toMatchObject([{ attempt: 1 }, { attempt: 1 }]);
  expect(events.filter(({ type }) => type === "run.paused")).toMatchObject([{ reason: "enough for today" }]);
  expect(events.some((event) => event.type === "node.ended" && event.outcome.status === "cancelled")).toBe(false);
});

test("resuming a cancelled run only returns its recorded result", async () => {
  const home = tempFolder();
  const first = stage(home, uses("one"), { text: "late", delayMs: 60_000 });
  const run = first.crew.run(single);
  await when(
    run,
    (event) => event.type === "turn.started" && event.turn === 2,
    () => run.cancel("no more"),
  );
  const second = stage(home, "never asked");
  expect(await second.crew.resume(run.id)).toMatchObject({ status: "cancelled" });
  expect(second.model.requests).toHaveLength(0);
});

test("a run that was paused before anything ran, or after everything was done, can be resumed", async () => {
  const home = tempFolder();
  const first = stage(home, hang);
  const run = first.crew.run(single);
  run.pause("too early");
  expect(await run).toMatchObject({ status: "paused" });
  const second = stage(home, "done");
  expect(await second.crew.resume(run.id)).toMatchObject({ status: "ok", output: "done" });
});

test("a task that is cancelled by name stays cancelled when the run is resumed, and the rest continues", async () => {
  const home = tempFolder();
  const first = stage(home, hang, hang);
  const run = first.crew.run({
    mode: "parallel",
    tasks: ["a", "b"].map((name) => ({ agent: "worker", name, task: name })),
  });
  await when(
    run,
    (event) => event.type === "node.ended" || (event.type === "turn.started" && event.path === "b"),
    () => void (run.state.nodes.get("a")?.outcome ? run.pause("later") : run.cancelTask("a", "not wanted")),
  );
  const second = stage(home, "b is done");
  const { nodes } = await second.crew.resume(run.id);
  expect(nodes["a"]).toMatchObject({ status: "cancelled", reason: "not wanted", final: true });
  expect(nodes["b"]).toMatchObject({ status: "ok", output: "b is done" });
  expect(second.model.requests).toHaveLength(1);
});

test("the text of an interrupted answer is kept, and counts as an estimate", async () => {
  const home = tempFolder();
  const text = "half of an answer ".repeat(40);
  const first = stage(home);
  const crew = createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    agents: [{ name: "worker", description: "Works.", instructions: "Work." }],
    models: {
      m: async function* (_request, signal) {
        yield { type: "text", text };
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      },
    },
  });
  const run = crew.run(single);
  for await (const event of run) if (event.type === "text.delta") run.pause("enough");
  const result = await run;
  expect(result).toMatchObject({ status: "paused", output: text });
  expect(result.usage.estimated).toBeGreaterThan(text.length / 4);
  const kept = await first.crew.kept.look(run.id);
  expect(kept).toMatchObject({ life: "paused" });
  expect(kept.state.usage.estimated).toBe(result.usage.estimated);
  expect(kept.state.cost).toEqual({ usd: 0, unpriced: 1 });
});

test("a paused run whose folder was copied or renamed is not resumed under the other name, so nothing is done twice", async () => {
  const home = tempFolder();
  const first = stage(home, uses("once"), hang);
  const run = first.crew.run(single);
  await when(
    run,
    (event) => event.type === "turn.started" && event.turn === 2,
    () => run.pause("enough"),
  );
  cpSync(join(home, "runs", run.id), join(home, "runs", "run_copycopycopy"), { recursive: true });
  const again = stage(home, uses("twice"), "done");
  await expect(again.crew.resume("run_copycopycopy").then((result) => result)).rejects.toMatchObject({
    code: "RUN_DAMAGED",
    message: expect.stringContaining(`a copy of the run "${run.id}"`),
    hint: expect.stringContaining(run.id),
  });
  expect(again.done).toEqual([]);
  expect(await stage(home, "unused", "unused", "done").crew.resume(run.id)).toMatchObject({ status: "ok" });
});
