import { expect, test } from "vitest";
import { exitCodeOfRun } from "../../src/core/run/result.ts";
import type { KeptEvent } from "../../src/core/run/event.ts";
import { emptyState, reduce } from "../../src/core/run/state.ts";
import { createCrew } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

const write = (path: string, content: string) => ({ calls: [{ name: "write_file", input: { path, content } }] });

/** The refused changes of a run whose person approves only the question with this number. */
async function play(approved: number, ...paths: readonly string[]) {
  const crew = createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    env: { PATH: "" },
    discover: false,
    models: { m: scripted(...paths.map((path, at) => write(path, `${at}`)), "All done.") },
  });
  const run = crew.run({ task: "Go." });
  let asked = 0;
  for await (const event of run)
    if (event.type === "gate.opened") await run.answer(event.path, { approve: ++asked === approved }, event.call);
  const { status, refused = [] } = await run;
  expect([status, exitCodeOfRun(run.state)]).toEqual(["ok", 0]); // a person was asked
  return refused.map(({ target }) => target);
}

test("a refused change counts until the same tool makes it at the same target", async () => {
  expect(await play(2, "a.txt", "a.txt")).toEqual([]);
  expect(await play(2, "a.txt", "./a.txt")).toEqual([]);
  expect(await play(2, "a.txt", "b.txt")).toEqual(["a.txt"]);
  expect(await play(1, "a.txt", "b.txt")).toEqual(["b.txt"]);
});

test("the exit code is 3 while a change that nobody could be asked about was not made", () => {
  const state = emptyState("run");
  const at = { run: "run", path: "lead", at: 1 };
  const call = { tool: "write_file", target: "a.txt" };
  const told = (seq: number, call: string, error: boolean): KeptEvent => ({
    ...at,
    seq,
    type: "tool.ended",
    call,
    tool: "write_file",
    error,
    text: "",
    ms: 1,
    status: "ok",
  });
  reduce(state, {
    ...at,
    seq: 1,
    type: "tool.denied",
    call: "1",
    rule: "mode default",
    text: "",
    unasked: true,
    ...call,
  });
  expect(exitCodeOfRun({ ...state, outcome: { status: "ok", output: "done" } })).toBe(3);
  reduce(state, { ...at, seq: 2, type: "tool.started", call: "2", preview: "", effect: "write", ...call });
  reduce(state, told(3, "2", true));
  expect(exitCodeOfRun({ ...state, outcome: { status: "ok", output: "done" } })).toBe(3);
  reduce(state, { ...at, seq: 4, type: "tool.started", call: "3", preview: "", effect: "write", ...call });
  reduce(state, told(5, "3", false));
  expect(exitCodeOfRun({ ...state, outcome: { status: "ok", output: "done" } })).toBe(0);
});
