import { describe, expect, test } from "vitest";
import { place } from "../../command.ts";

const ESC = "\u001b";
/** A model that calls a tool, thinks, and answers with text that tries to control a terminal or a page. */
const script = JSON.stringify({
  turns: [
    { calls: [{ name: "write_file", input: { path: "a.txt", content: "one\n" } }] },
    { calls: [{ name: "edit_file", input: { path: "a.txt", oldText: "one", newText: "two" } }] },
    { thinking: "I should be careful.", text: `done ${ESC}]0;owned\u0007<script>alert(1)</script>\n\`\`\`\n# forged` },
  ],
});

async function shown(...flags: readonly string[]): Promise<string> {
  const here = place({ "script.json": script });
  const ran = await here.run([
    "run",
    "general",
    "change a.txt",
    "--model",
    "scripted:script.json",
    "--name",
    "demo",
    "--allow",
    "write_file",
    "--allow",
    "edit_file",
  ]);
  expect(ran.stderr).not.toContain("subcrew:");
  const { stdout, code, stderr } = await here.run(["show", "demo", ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

describe("show", () => {
  test("prints prompt, calls with results and diffs, thinking and the answer, and nothing that controls a terminal", async () => {
    const text = await shown();
    expect(text).toContain("change a.txt");
    expect(text).toMatch(/edit_file a\.txt/);
    expect(text).toContain("-one\n");
    expect(text).toContain("+two\n");
    expect(text).toContain("(thinking) I should be careful.");
    expect(text).toContain("done");
    expect(text).not.toContain(ESC);
  });

  test("as HTML: every text is escaped and nothing is loaded", async () => {
    const page = await shown("--html");
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(page).not.toContain("<script");
    expect(page).toContain("default-src 'none'");
  });

  test("as Markdown: a fence in an answer does not end the block", async () => {
    const markdown = await shown("--markdown");
    expect(markdown).toMatch(/````\ndone[\s\S]*# forged\n````/);
  });

  test("a run that does not exist, and two formats at once, are refused", async () => {
    const here = place();
    expect(await here.run(["show", "nothing"])).toMatchObject({ code: 2, stdout: "" });
    expect((await here.run(["show", "x", "--html", "--markdown"])).stderr).toContain("--markdown and --html");
  });
});

const pegasusLog = (data: object): string =>
  [
    { ts: 1, event: "TASK_CREATED", taskId: "t1", data: { inputText: "what is 2+2?", description: "sum", ...data } },
    { ts: 2, event: "REASON_DONE", taskId: "t1", data: {} },
    { ts: 3, event: "TASK_COMPLETED", taskId: "t1", data: { finalResult: { response: "four" } } },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

describe("show FILE.jsonl", () => {
  test.for([
    [{ taskType: "plan" }, /^== plan/],
    [{}, /^== general/],
  ] as const)("shows the log of a pegasus task with its type (%j)", async ([data, head]) => {
    const { code, stdout, stderr } = await place({ "t.jsonl": pegasusLog(data) }).run(["show", "t.jsonl"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(head);
    expect(stdout).toMatch(/what is 2\+2\?[^]*four/);
  });

  test("refuses a file that is not a log with an error of one sentence", async () => {
    const { code, stderr } = await place({ "notes.jsonl": "hello\n" }).run(["show", "notes.jsonl"]);
    expect(code).toBe(2);
    expect(stderr).toContain("notes.jsonl");
    expect(stderr).not.toContain("    at ");
  });
});
