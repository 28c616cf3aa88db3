import { describe, expect, test } from "vitest";
import { parseAnswer } from "../../../../src/cli/terminal/gates.ts";
import { place, script } from "../../command.ts";

const team = JSON.stringify({
  team: {
    tasks: [
      { id: "page", task: "Write it.", requiresApproval: true, tools: ["read_file"] },
      { id: "ship", task: "Ship it.", depends: ["page"] },
    ],
  },
});
const files = { "team.json": team, "turns.json": script("the page") };
const args = ["team", "--input", "team.json", "--model", "scripted:turns.json"];

test("in an unattended run a question fails with exit code 3 and says how to continue", async () => {
  const there = place(files);
  const { code, stdout, stderr } = await there.run(args);
  expect(code).toBe(3);
  expect(stdout).toContain("the page");
  expect(stderr).toContain('"page.1/approval" needs an approval, and nobody is available to give it.');
  const id = /run_\w{12}/.exec(stderr)?.[0] ?? "";

  const resumed = await there.run(["resume", id, "--retry-failed", "--yes"]);
  expect(resumed.code).toBe(0);
  expect(resumed.stderr).toContain("answer  page.1/approval  approved by --yes");
});

test("--yes approves in advance, and the journal records this", async () => {
  const { code, stdout } = await place(files).run([...args, "--yes", "--json"]);
  expect(code).toBe(0);
  const answered = stdout.split("\n").find((line) => line.includes('"gate.answered"')) ?? "{}";
  expect(JSON.parse(answered)).toMatchObject({ path: "page.1/approval", answer: { approve: true, by: "--yes" } });
});

describe("an answer that a person types", () => {
  test.each([
    ["y", { approve: true }],
    ["YES", { approve: true }],
    ["n", { approve: false }],
    ["no", { approve: false }],
    ["n make it shorter", { approve: false, text: "make it shorter" }],
    ["No: too long", { approve: false, text: "too long" }],
  ])("%j is an answer", (line, answer) => expect(parseAnswer(line)).toEqual({ ...answer, by: "a person" }));

  test.each(["", "   ", "maybe", "yeah sure", "nothing", "yn"])("%j is not an answer", (line) =>
    expect(parseAnswer(line)).toBeUndefined(),
  );
});
