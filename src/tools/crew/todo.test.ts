import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { emptyScratchpad } from "../../core/task/scratchpad.ts";
import { todo } from "./todo.ts";

test("a todo list grows, changes and is shown after each call", async () => {
  const desk = emptyScratchpad();
  const call = (input: object): Promise<string> => callTool(todo, "/", input, { desk });
  expect(await call({ action: "list" })).toEqual("[the list is empty]");
  await call({ action: "add", title: "look" });
  expect(
    await call({ action: "add", items: [{ title: "write\nit", status: "in_progress" }, { title: "test" }] }),
  ).toEqual("1. [ ] look\n2. [>] write it\n3. [ ] test\n3 of 3 open.");
  await call({ action: "complete", id: 1 });
  await call({ action: "update", id: 2, status: "dropped", title: "write" });
  expect(await call({ action: "complete", id: 3 })).toEqual("1. [x] look\n2. [-] write\n3. [x] test\nAll done.");
  expect(await call({ action: "set", items: [{ title: "anew" }] })).toEqual("1. [ ] anew\n1 of 1 open.");
  await expect(call({ action: "complete", id: 2 })).rejects.toThrow("the list has no entry 2: its last entry is 1");
  await expect(call({ action: "complete" })).rejects.toThrow("name the entry");
  await expect(call({ action: "add" })).rejects.toThrow("say what to add");
  await expect(call({ action: "update", id: 1 })).rejects.toThrow("say what to change");
});
