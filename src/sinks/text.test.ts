import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { startRun } from "../../test/support/start-run.ts";
import { createLook } from "../core/view/look.ts";
import { createTextSink } from "./text.ts";

test("an error while an event is shown names the run and the task", async () => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const sink = createTextSink({
    out: nowhere,
    err: nowhere,
    look: createLook({ color: false, unicode: false }),
    quiet: false,
    since: 0,
    tell: (event) => {
      if (event.type === "node.ended") throw new TypeError("cannot show this");
      return undefined;
    },
  });
  const run = startRun();
  await expect(sink.follow(run)).rejects.toMatchObject({
    message: "The task run_x/scout crashed: cannot show this",
    cause: expect.any(TypeError),
  });
  await run;
});

test("the log of a run has one line for the end of each task, and no list of the tasks after it", async () => {
  let written = "";
  const err = new Writable({ write: (chunk, _encoding, done) => ((written += String(chunk)), done()) });
  const sink = createTextSink({
    out: new Writable({ write: (_chunk, _encoding, done) => done() }),
    err,
    look: createLook({ color: false, unicode: false }),
    quiet: false,
    since: 0,
  });
  const task = { kind: "task", task: { prompt: "look" } } as const;
  const both = { kind: "join", needs: ["scout", "sage"], pick: "settled" } as const;
  const run = startRun({ plan: { nodes: { scout: task, sage: task, both }, output: "both" } });
  await sink.follow(run);
  sink.end(run);
  for (const name of ["scout", "sage"])
    expect(written.split("\n").filter((line) => line.includes(name) && !line.startsWith("start"))).toHaveLength(1);
});

test("log lines are held back while a prompt is open, and printed in order afterwards", () => {
  let written = "";
  const err = new Writable({ write: (chunk, _encoding, done) => ((written += String(chunk)), done()) });
  const look = createLook({ color: false, unicode: false });
  const sink = createTextSink({ out: err, err, look, quiet: false, since: 0 });
  sink.pause();
  sink.say("one");
  sink.say("two");
  expect(written).toBe("");
  sink.resume();
  sink.say("three");
  expect(written).toBe("one\ntwo\nthree\n");
});
