import { expect, test } from "vitest";
import { stem, termsOf } from "./terms.ts";

const names = (text: string): string[] => termsOf(text).map(({ name }) => name);

test.each([
  ["running", "run"],
  ["tasks", "task"],
  ["cancels", "cancel"],
  ["cancelled", "cancel"],
  ["calling", "call"],
  ["retries", "retry"],
  ["execution", "execut"],
  ["validation", "valid"],
  ["classes", "class"],
  ["status", "status"],
  ["process", "process"],
  ["node", "node"],
  ["sing", "sing"],
])("search terms: the stem of %s is %s", (word, expected) => {
  expect(stem(word)).toEqual(expected);
});

test("search terms: stop words are dropped, and the other words keep their order", () => {
  expect(names("Where is a plan turned into running tasks, and what cancels a node?")).toEqual([
    "plan",
    "running",
    "tasks",
    "cancels",
    "node",
  ]);
});

test("search terms: names from code and quoted words come first, and names are also split into words", () => {
  expect(names('does `withRetry` or parse_plan read the "exit code" of MAX_TURNS?')).toEqual([
    "withRetry",
    "exit code",
    "parse_plan",
    "MAX_TURNS",
    "retry",
    "parse",
    "plan",
    "read",
  ]);
});

test("search terms: words with the same root are one term", () => {
  expect(names("run runs running")).toEqual(["run"]);
});

test.each([
  ["run", ["const run = 1", "running()", "dryRun()", "RUN_ID", "on_run", "runners"], ["truncate", "brunch", "runtime"]],
  ["plan", ["planner", "Plans", "makePlan", "PLAN_CYCLE"], ["airplane", "explanation"]],
  ["execution", ["execute", "Executor", "executing"], ["exec"]],
])("search terms: %s is found in code", (word, yes, no) => {
  const expression = termsOf(word)[0]?.exact;
  for (const text of yes) expect([text, expression?.test(text)]).toEqual([text, true]);
  for (const text of no) expect([text, expression?.test(text)]).toEqual([text, false]);
});

test("search terms: synonyms are found, too", () => {
  const [term] = termsOf("auth");
  expect(term?.also).toEqual(["login", "session", "credential"]);
  expect(term?.either.test("createSession()")).toBe(true);
  expect(term?.exact.test("createSession()")).toBe(false);
});

test("search terms: special characters of regular expressions are taken literally", () => {
  const [term] = termsOf('"a.*b(c[d"');
  expect(term?.exact.test("x a.*b(c[d y")).toBe(true);
  expect(term?.exact.test("axxb(cd")).toBe(false);
});

test("search terms: words of any alphabet are terms", () => {
  expect(names("Wo wird die Größe geprüft, и где ошибка?")).toEqual(expect.arrayContaining(["größe", "ошибка"]));
  expect(termsOf("größe")[0]?.exact.test("die größe")).toBe(true);
});
