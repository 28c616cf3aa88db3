import { expect, test } from "vitest";
import { createCrew, type Model, type Event } from "../src/index.ts";
const say = (text: string): Model => async function* () { yield { type: "text", text }; yield { type: "end", usage: { input: 1, output: 1 }, cost: 0 }; };
const echo: Model = async function* (r) { const m = r.messages.at(-1)!; yield { type: "text", text: "text" in m ? `echo:${m.text}` : "?" }; yield { type: "end", usage: { input: 1, output: 1 }, cost: 0 }; };
const never: Model = async function* (_r, signal) { await new Promise((r) => signal.addEventListener("abort", r)); };
test("single", async () => {
  const crew = createCrew({ home: false, models: { quick: say("42") }, model: "quick", tools: [] });
  const run = crew.run({ mode: "single", task: "hi" });
  const seen: Event[] = []; for await (const e of run) seen.push(e);
  console.log(seen.map((e) => e.type).join(" "));
  expect(await run).toMatchObject({ status: "ok", output: "42" });
});
test("race, chain, parallel, team", async () => {
  const crew = createCrew({ home: false, models: { quick: say("42"), never, echo }, model: "echo" });
  expect(await crew.run({ race: { task: "x", models: ["never", "quick"] } } as never)).toMatchObject({ status: "ok", output: "42" });
  expect(await crew.run({ chain: [{ task: "a" }, { task: "got {previous}" }] } as never)).toMatchObject({ status: "ok", output: "echo:got echo:a" });
  console.log(await crew.run({ tasks: [{ task: "a", name: "A" }, { task: "got {task:A}" }] } as never));
  const r = await crew.run({ team: { objective: "o", members: [{ role: "dev" }, { role: "rev", model: "quick" }], tasks: [{ id: "w", task: "work", assignee: "dev", review: { reviewer: "rev", maxIterations: 2 } }, { id: "z", task: "after", depends: ["w"] }] } } as never);
  console.log(JSON.stringify(r, null, 1));
});
