import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { bash } from "./bash.ts";

test("bash refuses a command with a NUL character with an error of one sentence", async () => {
  await expect(callTool(bash, "/", { command: "true\0; id" })).rejects.toThrow("contains a NUL character");
});
