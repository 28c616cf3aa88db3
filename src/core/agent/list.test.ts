import { expect, test } from "vitest";
import { formatAgentList } from "./list.ts";

const agent = (name: string, description = "does things") => ({ name, description, source: "user" });

test("the one-line list of agents contains all agents when no limit is given", () => {
  const agents = Array.from({ length: 30 }, (_, i) => agent(`a${i}`));
  expect(formatAgentList(agents)).toMatchObject({ count: 30, remaining: 0 });
});

test("in the one-line list of agents, the numbers of listed and omitted agents add up", () => {
  expect(formatAgentList([agent("a"), agent("b"), agent("c")], 2)).toEqual({
    text: "a (user): does things; b (user): does things",
    count: 2,
    remaining: 1,
  });
  expect(formatAgentList([agent("a")], -1)).toEqual({ text: "", count: 0, remaining: 1 });
});

test("the one-line list without any agent is shown as none", () => {
  expect(formatAgentList([])).toEqual({ text: "none", count: 0, remaining: 0 });
});

test("the one-line list of agents shows a description of several lines on one line", () => {
  expect(formatAgentList([agent("a", " first\n  second ")]).text).toBe("a (user): first second");
});
