import { expect, test } from "vitest";
import { growth } from "../../../test/support/growth.ts";
import { prompts } from "../../embedded.ts";
import { isDemand, questionOf, taskIndex } from "./question.ts";

const asked = (prompt: string): string[][] =>
  questionOf(prompt).clauses.map(({ terms }) => terms.map(({ name }) => name));

test("the offline model splits a prompt with several questions at the beginning of each question", () => {
  expect(asked("Where is a plan turned into running tasks, and what cancels a node?")).toEqual([
    ["plan", "running", "tasks"],
    ["cancels", "node"],
  ]);
  expect(asked("Look at the retry rule. Then the journal; what is it?")).toEqual([["retry", "rule"], ["journal"]]);
});

test("the offline model does not search for the names of files in a question as words", () => {
  const { paths, clauses } = questionOf("What does ./src/core/plan/plan.ts say about cycles, as in README.md?");
  expect(paths).toEqual(["src/core/plan/plan.ts", "README.md"]);
  expect(clauses.flatMap(({ terms }) => terms.map(({ name }) => name))).toEqual(["cycles"]);
});

test("the offline model treats attached text as material, not as the question", () => {
  const prompt = [
    "## File: a.ts\n\n```\nconst banana = 1;\n```",
    "Find the login.",
    prompts.attached,
    '<result of="scout">\nThe apple is in src/a.ts:12\n</result>',
    "> cherry",
  ].join("\n\n");
  const { text, clauses, material } = questionOf(prompt);
  expect(text).toEqual("Find the login.");
  expect(clauses.map(({ terms }) => terms.map(({ name }) => name))).toEqual([["login"]]);
  expect(material).toEqual(["## File: a.ts", "const banana = 1;", "The apple is in src/a.ts:12", "> cherry"]);
});

test("an earlier answer of the offline model is recognised anywhere in the prompt", () => {
  const finding = "1. src/a.ts:3 login (matches login)\n   3  export function login() {";
  const before = ["Searched for: login. Files with matches: 1, read: 1.", finding].join("\n\n");
  for (const prompt of [`Say more about the session in\n\n${before}`, `Say more about the session: ${before}`]) {
    expect(asked(prompt)).toEqual([["session"]]);
    expect(questionOf(prompt).material).toEqual(finding.split("\n"));
  }
});

test.each([
  ["Write a parser for tables", "change"],
  ["Please fix the login", "change"],
  ["Could you refactor the session?", "change"],
  ["Where is the login?", "places"],
  ["Check the work. End with APPROVED or REVISION_NEEDED.", "review"],
])("the offline model recognises the purpose of a prompt: %s asks for %s", (prompt, wants) => {
  expect(questionOf(prompt).wants).toEqual(wants);
});

test("the offline model processes a prompt of 200 KB in linear time", () => {
  for (const filling of ["word ", "<a>\n", "```\n", "x", "a/", "\n \n", "src/a.ts:1 ", "'", '"', "_a"]) {
    const read = (chars: number) => (): void => {
      const { text } = questionOf(`Where is the login?\n\n${filling.repeat(chars / filling.length)}`);
      expect(text.startsWith("Where is the login?")).toBe(true);
    };
    expect(growth({ small: read(5_000), large: read(200_000), pieces: 40 }), filling).toBeLessThan(10);
  }
});

test("the offline model does not mistake a request to return the result for the task", () => {
  const task = { role: "user", text: "Where is the login?" } as const;
  const said = { role: "assistant", text: "x", calls: [] } as const;
  for (const text of [prompts.grace, prompts.remindEmpty, prompts.remindFinish, prompts.remindJson]) {
    expect(isDemand(text.replace(/\{\w+\}/, "10 turns"))).toBe(true);
    expect(taskIndex([task, said, { role: "user", text }])).toBe(0);
  }
  expect(taskIndex([task, said, { role: "user", text: "And the logout?" }])).toBe(2);
});
