import { expect, test } from "vitest";
import { createCrew } from "../index.ts";
import { scripted } from "../models/scripted/scripted.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { githubAnnotations, resultJunit, resultMarkdown } from "./result-formats.ts";

const refused = { error: { code: "MODEL_AUTH", message: "no <key> & no\nluck", retryable: false } } as const;

async function stateOfBoth() {
  const home = tempFolder();
  const agents = ["good", "bad"].map((name) => ({
    name,
    description: name,
    instructions: "Work.",
    tools: [],
    model: name,
  }));
  const crew = createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    models: { good: scripted("a < b & \u0001c"), bad: scripted(refused) },
    agents,
  });
  const run = crew.run({
    mode: "parallel",
    tasks: [
      { agent: "good", task: "Go." },
      { agent: "bad", task: "Go." },
    ],
  });
  await run;
  return run.state;
}

test("the JUnit report counts failures, escapes text and leaves out characters that XML cannot contain", async () => {
  const xml = resultJunit(await stateOfBoth());
  expect(xml).toMatch(/tests="2" failures="1" skipped="0"/);
  expect(xml).toContain("<system-out>a &lt; b &amp; ");
  expect(xml).not.toContain("\u0001");
  expect(xml).toMatch(/<failure type="MODEL_AUTH" message="no &lt;key&gt; &amp; no/);
});

test("the Markdown report has a row for each task, and says why the run failed", async () => {
  const text = resultMarkdown(await stateOfBoth());
  expect(text).toMatch(/\| good \| ok \|/);
  expect(text).toMatch(/\| bad \| failed \|/);
  expect(text).toContain("**failed**");
});

test("the Markdown report says that a result is not approved, and that it was cut short", async () => {
  const state = await stateOfBoth();
  const view = [...state.nodes.values()].find(({ agent }) => agent === "good")!;
  const { outcome } = view;
  const rowWith = (more: object): string => {
    view.outcome = Object.assign({}, outcome, more);
    return /\| good \|([^|]*)\|/.exec(resultMarkdown(state))![1]!.trim();
  };
  const limit = { kind: "turns", value: 3 };
  const rows = [{ approved: true }, { approved: false }, { limit }, { approved: false, limit }].map(rowWith);
  expect(rows).toEqual(["ok", "ok, not approved", "ok, cut short", "ok, not approved, cut short"]);
});

test("the Markdown report shows durations in the format of the settings", async () => {
  const state = await stateOfBoth();
  for (const view of state.nodes.values()) view.endedAt = (view.startedAt ?? 0) + 65_000;
  expect(resultMarkdown(state)).toContain("| 1m5s |");
  expect(resultMarkdown(state, { durations: "spaced" })).toContain("| 1m 5s |");
});

test("the GitHub annotations have one line for each task that failed", async () => {
  const lines = githubAnnotations(await stateOfBoth());
  expect(lines).toMatch(/^::error title=bad::no <key> & no(?:%0A| )luck[^\n]*\n$/);
});
