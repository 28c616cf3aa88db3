import { expect, test } from "vitest";
import type { Plan } from "../plan/plan.ts";
import { emptyState, type State } from "../run/state.ts";
import { conversationsOf, searchConversations } from "./conversations.ts";

const message = (run: string, prompt: string, output: string, at: number, continues?: string): State => ({
  ...emptyState(run),
  plan: { output: "lead", nodes: { lead: { kind: "task", task: { agent: "lead", prompt } } } } as unknown as Plan,
  outcome: { status: "ok", output },
  startedAt: at,
  continues,
});

const states = [
  message("run_a", "Where is the login?", "In src/login.ts.", 1),
  message("run_b", "And its tests?", "There are none.", 2, "run_a/lead"),
  message("run_c", "Write a poem.", "Roses.", 3),
];

test("runs that continue each other are listed as one conversation, the newest conversation first", () => {
  expect(conversationsOf(states).map(({ last, title, messages }) => [last, title, messages])).toEqual([
    ["run_c", "Write a poem.", 1],
    ["run_b", "Where is the login?", 2],
  ]);
});

test("a search finds words of messages and answers, also of the first message", () => {
  const found = (words: string): string[] =>
    searchConversations(conversationsOf(states), words).map(({ last }) => last);
  expect(found("LOGIN none")).toEqual(["run_b"]);
  expect(found("roses")).toEqual(["run_c"]);
  expect(found("roses login")).toEqual([]);
});

test("runs that continue each other in a circle do not hang the list", () => {
  const circle = [message("run_a", "a", "", 1, "run_b/lead"), message("run_b", "b", "", 2, "run_a/lead")];
  expect(conversationsOf(circle)).toEqual([]);
});
