import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { createConversation } from "../../src/crew/conversation.ts";
import { createCrew, type Model } from "../../src/index.ts";
import { tempFolder } from "../support/temp-folder.ts";

const PNG = Buffer.from("\u0089PNG\r\n\u001a\nnot really", "latin1").toString("base64");
const image = { name: "a picture.png", type: "image/png" as const, data: PNG };
const shown = { name: "a picture.png", type: "image/png", data: PNG };

function listening(): { model: Model; requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  const model: Model = async function* (request) {
    requests.push(request);
    yield { type: "text", text: "I see." };
    yield { type: "end", usage: { input: 1, output: 1 } };
  };
  return { model, requests };
}

test("an image goes to the model with its message, stays in the conversation, and is not in the records", async () => {
  const home = tempFolder();
  const { model, requests } = listening();
  const crew = createCrew({ home, discover: false, models: { m: model }, model: "m" });
  const talk = createConversation({ crew, options: {}, opening: async (task) => ({ mode: "single", task }) });
  for (const [text, images] of [
    ["What is this?", [image]],
    ["And now?", []],
    ["Compare.", [image]],
  ] as const) {
    const { run } = await talk.say(text, images);
    await run;
    talk.ended(run);
  }
  const seen = requests.map(({ messages }) => messages.flatMap((each) => (each.role === "user" ? [each.images] : [])));
  expect(seen).toEqual([[[shown]], [[shown], undefined], [[shown], undefined, [shown]]]);
  const folder = join(home, "runs");
  for (const run of await readdir(folder)) {
    const files = await readdir(join(folder, run));
    const journal = files.find((name) => name.endsWith(".jsonl"));
    expect(await readFile(join(folder, run, journal!), "utf8")).not.toContain(PNG);
  }
});

test("a model that does not take images gets no request", async () => {
  const home = tempFolder();
  const crew = createCrew({ home, discover: false, model: "offline" });
  const run = crew.run({ mode: "single", task: "What is this?", images: [image] });
  await run;
  expect(run.state.outcome).toMatchObject({
    status: "failed",
    fault: { code: "UNSUPPORTED", message: "The model offline does not accept images." },
  });
});
