import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { call, type Played, play } from "../../../support/play.ts";
import { tempFolder } from "../../../support/temp-folder.ts";

const edit = call("write_file", { path: "a.txt", content: "bad" });
const options = { permissions: { mode: "acceptEdits", sandbox: "off" } } as const;
const textOf = ({ ended }: Played): string => ended.find(({ tool }) => tool === "write_file")?.text ?? "";

const checker = (command: string, more: object = {}) => ({ diagnostics: { command, agents: ["worker"], ...more } });

test("after an edit the agent reads the report of the checker, and after a repair that nothing is wrong", async () => {
  const command = "grep -n bad a.txt && exit 3 || true";
  const played = await play([edit, call("write_file", { path: "a.txt", content: "good" })], {
    ...options,
    ...checker(command),
  });
  expect(played.ended.map(({ text, error }) => [text.split("\n\n").at(-1), error])).toEqual([
    [`Diagnostics of \`${command}\` (exit code 3):\n1:bad`, false],
    [`Diagnostics of \`${command}\`: no problems.`, false],
  ]);
  expect(played.questions).toEqual([]);
});

test("the bundled agent `code` reads the report of the checker after an edit, and `general` does not", async () => {
  const diagnostics = { command: "grep -n bad a.txt && exit 3" };
  const report = async (agent: string): Promise<string | undefined> =>
    textOf(await play([edit], { ...options, diagnostics, input: { agent } })).split("\n\n")[1];
  expect(await report("code")).toBe("Diagnostics of `grep -n bad a.txt && exit 3` (exit code 3):\n1:bad");
  expect(await report("general")).toBeUndefined();
});

test("a checker that takes too long is stopped, and the edit is kept", async () => {
  const played = await play([edit], { ...options, ...checker("sleep 1000", { timeoutMs: 50 }) });
  expect(textOf(played)).toMatch(/Diagnostics of `sleep 1000` \(time/);
  expect(played.ended[0]).toMatchObject({ error: false });
});

test("the checker does not run after a read, for an agent that is not named, or without commands", async () => {
  const cwd = tempFolder({ "a.txt": "x" });
  const read = await play([call("read_file", { path: "a.txt" })], { ...options, cwd, ...checker("echo checked") });
  expect(read.ended[0]!.text).not.toContain("Diagnostics");
  const other = await play([edit], { ...options, diagnostics: { command: "echo checked" } });
  expect(textOf(other)).not.toContain("Diagnostics");
  const without = await play([edit], { ...options, ...checker("echo checked"), agent: { tools: ["write_file"] } });
  expect(textOf(without)).not.toContain("Diagnostics");
});

test("a rule that denies the checker's command also denies the checker", async () => {
  const played = await play([edit], {
    permissions: { mode: "acceptEdits", sandbox: "off", deny: ["bash(touch *)"] },
    ...checker("touch checked.txt"),
  });
  expect(textOf(played)).toContain("not run. DENIED");
});

describe("where bubblewrap works", () => {
  let bwrap: Need;
  beforeAll(async () => {
    bwrap = await needs("bwrap");
  }, needsTimeout);
  beforeEach((context) => {
    if (bwrap.missing !== undefined) context.skip(bwrap.missing);
  });

  test("the checker runs in the sandbox like any other command", async () => {
    const outside = tempFolder();
    const played = await play([edit], {
      permissions: { mode: "acceptEdits" },
      ...checker(`touch ${outside}/x || echo refused`),
    });
    expect(textOf(played)).toContain("Diagnostics of");
    expect(played.events.filter(({ type }) => type === "note")).toMatchObject([
      { text: expect.stringContaining("sandbox: full") as string },
    ]);
  });
});
