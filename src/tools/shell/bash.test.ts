import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { bash } from "./bash.ts";

test("a command with a NUL character is refused by a sentence", async () => {
  await expect(callTool(bash, "/", { command: "true\0; id" })).rejects.toThrow("contains a NUL character");
});
