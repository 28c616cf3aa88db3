import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { notify } from "./notify.ts";

test("notify sends the message to the caller of the task", async () => {
  const told: string[] = [];
  expect(await callTool(notify, "/", { message: "half way" }, { notify: (text) => void told.push(text) })).toEqual(
    "Told.",
  );
  expect(told).toEqual(["half way"]);
});
