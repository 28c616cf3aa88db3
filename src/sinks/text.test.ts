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
    live: undefined,
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
