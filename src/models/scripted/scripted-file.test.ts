import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { createScriptReader } from "./scripted-file.ts";

test("a script file that is created after a failed attempt is read at the next attempt, so that a worker does not keep failing", async () => {
  const folder = tempFolder();
  const read = createScriptReader(folder);
  await expect(read("turns.json")).rejects.toMatchObject({ code: "BAD_FILE" });
  writeFileSync(join(folder, "turns.json"), JSON.stringify(["hello"]));
  expect(await read("turns.json")).toBeTypeOf("function");
});

test("the calls of a resumed conversation keep their own ids, or get the ids of their turn in the script file", async () => {
  const folder = tempFolder();
  const call = { name: "read_file", input: { path: "a" } };
  const turns = ["hello", { calls: [call, { ...call, id: "mine" }, call] }];
  writeFileSync(join(folder, "turns.json"), JSON.stringify(turns));
  const model = await createScriptReader(folder)("turns.json");
  const ids: string[] = [];
  const messages = [
    { role: "user", text: "hi" },
    { role: "assistant", text: "hello", calls: [] },
  ] as const;
  const request = { model: "m", system: "", messages, tools: [], toolChoice: "auto" } as const;
  for await (const event of model(request, new AbortController().signal))
    if (event.type === "call") ids.push(event.call.id);
  expect(ids).toEqual(["call_2_1", "mine", "call_2_3"]);
});
