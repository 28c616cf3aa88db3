import { describe, expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { emptyScratchpad } from "../../core/task/scratchpad.ts";
import { getEnv } from "./get-env.ts";
import { setEnv } from "./set-env.ts";

describe("SEC-05: the environment of a task", () => {
  const env = { PATH: "/bin", HOME: "/home/u" };

  test("only variables that are passed on are visible, by their exact names", async () => {
    expect(await callTool(getEnv, "/", {}, { env })).toEqual("HOME=/home/u\nPATH=/bin");
    expect(await callTool(getEnv, "/", { name: "PATH" }, { env })).toEqual("/bin");
    for (const name of ["ANTHROPIC_API_KEY", "path", "constructor", "__proto__", "*"])
      expect(await callTool(getEnv, "/", { name }, { env })).toEqual(`The variable ${name} is not available here.`);
  });

  test("a variable that a task sets is visible only to that task", async () => {
    const [desk, other] = [emptyScratchpad(), emptyScratchpad()];
    await callTool(setEnv, "/", { name: "STAGE", value: "test" }, { env, desk });
    expect(await callTool(getEnv, "/", { name: "STAGE" }, { env, desk })).toEqual("test");
    expect(await callTool(getEnv, "/", { name: "STAGE" }, { env, desk: other })).toContain("not available");
    expect(process.env["STAGE"]).toBeUndefined();
    await callTool(setEnv, "/", { name: "STAGE", value: "" }, { env, desk });
    expect(desk.env.size).toEqual(0);
  });

  test.each([
    "PATH",
    "path",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "GIT_SSH_COMMAND",
    "BASH_ENV",
    "HTTPS_PROXY",
    "PYTHONPATH",
    "SUBCREW_HOME",
    "OPENAI_BASE_URL",
    "PAGER",
    "DYLD_INSERT_LIBRARIES",
  ])("%s controls programs and cannot be set", async (name) => {
    await expect(callTool(setEnv, "/", { name, value: "x" })).rejects.toThrow("cannot be set");
  });

  test.each(["", "1A", "A-B", "A=B", "A B", "A\0"])("%j is not a valid name", async (name) => {
    await expect(callTool(setEnv, "/", { name, value: "x" })).rejects.toThrow();
  });
});
