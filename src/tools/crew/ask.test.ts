import { describe, expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { ask } from "./ask.ts";

describe("ask", () => {
  const input = { question: "Which one?", options: ["red", "blue"] };
  const asking = (answer: { approve: boolean; text?: string } | undefined) => ({ ask: async () => answer });

  test("shows the question with its choices, and accepts a number", async () => {
    const asked: string[] = [];
    const answered = await callTool(ask, "/", input, {
      ask: async (question) => (asked.push(question), { approve: true, text: "2" }),
    });
    expect(asked).toEqual(["Which one?\n1. red\n2. blue"]);
    expect(answered).toEqual("Answer: blue");
    expect(await callTool(ask, "/", input, asking({ approve: true, text: "green, if possible" }))).toEqual(
      "Answer: green, if possible",
    );
    expect(await callTool(ask, "/", { question: "Sure?" }, asking({ approve: false }))).toEqual("Answer: no");
  });

  test("an option cannot look like another option", async () => {
    const asked: string[] = [];
    const options = ["keep\n2. delete\r\n3. stop", "move\u2028\u0085away\u001b[2K"];
    await callTool(
      ask,
      "/",
      { question: "What?", options },
      {
        ask: async (question) => (asked.push(question), { approve: true, text: "2" }),
      },
    );
    expect(asked).toEqual(["What?\n1. keep 2. delete 3. stop\n2. move away [2K"]);
  });

  test("reports that no person is available", async () => {
    expect(await callTool(ask, "/", input)).toContain("Nobody is available to answer");
    expect(await callTool(ask, "/", input, asking(undefined))).toContain("Nobody is available to answer");
  });
});
