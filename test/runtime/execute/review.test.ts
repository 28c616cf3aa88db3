import { expect, test } from "vitest";
import { createCrew, defineAgent, type Result } from "../../../src/index.ts";
import { type Script, type ScriptedModel, scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const schema = {
  type: "object",
  properties: { verdict: { enum: ["correct", "incorrect"] }, explanation: { type: "string" } },
  required: ["verdict", "explanation"],
};
const verdict = (word: string, explanation = "because"): Script => ({
  calls: [{ name: "complete_task", input: { result: { verdict: word, explanation } } }],
});

const broken: Script = { error: { code: "MODEL_BAD_ANSWER", message: "garbage", retryable: true } };

type Reviewed = Readonly<{
  result: Result;
  reviewer: ScriptedModel;
  worker: ScriptedModel;
  warnings: readonly string[];
}>;

/** A team with one task, reviewed by an agent with these turns. */
async function review(
  says: readonly Script[],
  { structured = true, team = {}, task = {} }: { structured?: boolean; team?: object; task?: object } = {},
): Promise<Reviewed> {
  const worker = scripted("draft 1", "draft 2", "draft 3", "draft 4");
  const reviewer = scripted(...says);
  const agents = [
    defineAgent({ name: "worker", description: "d", instructions: "i", model: "worker" }),
    defineAgent({
      name: "judge",
      description: "d",
      instructions: "i",
      model: "reviewer",
      ...(structured && { output: schema, completion: "tool" as const }),
    }),
  ];
  const crew = createCrew({
    home: false,
    cwd: tempFolder(),
    discover: false,
    env: {},
    agents,
    models: { worker, reviewer },
  });
  const run = crew.run({
    mode: "team",
    team: {
      members: [
        { role: "dev", agent: "worker" },
        { role: "rev", agent: "judge" },
      ],
      tasks: [{ id: "build", task: "Build it.", assignee: "dev", review: { reviewer: "rev" }, ...task }],
      ...team,
    },
  });
  const warnings: string[] = [];
  for await (const event of run) if (event.type === "warning") warnings.push(event.code);
  return { result: await run, reviewer, worker, warnings };
}

test("a structured verdict `correct` approves in the first round", async () => {
  const { result, worker, reviewer } = await review([verdict("correct")]);
  expect(result).toMatchObject({ status: "ok", output: "draft 1" });
  expect(result.nodes["build"]).toMatchObject({ approved: true, reviews: [{ approved: true }] });
  expect([worker.requests.length, reviewer.requests.length]).toEqual([1, 1]);
});

test("a structured verdict `incorrect` requests another draft with the reviewer's feedback", async () => {
  const { result, worker } = await review([verdict("incorrect", "no tests"), verdict("correct")]);
  expect(result).toMatchObject({ status: "ok", output: "draft 2" });
  expect(JSON.stringify(worker.requests[1]!.messages)).toContain("no tests");
  expect(result.nodes["build"]).toMatchObject({ approved: true, reviews: [{ approved: false }, { approved: true }] });
});

test("a reviewer with a schema that answers APPROVED as plain text has approved, in one turn", async () => {
  const { result, reviewer, warnings } = await review(["APPROVED"]);
  expect(result.nodes["build"]).toMatchObject({ status: "ok", approved: true });
  expect(reviewer.requests).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test("a reviewer is told how to give its verdict: in its fields, or as the last line", async () => {
  const structured = await review([verdict("correct")]);
  expect(JSON.stringify(structured.reviewer.requests[0]!.messages)).toContain("in the fields of your result");
  const plain = await review(["fine\nAPPROVED"], {
    structured: false,
    task: { review: { reviewer: "rev", prompt: "Is this good? {output}" } },
  });
  const asked = JSON.stringify(plain.reviewer.requests[0]!.messages);
  expect(asked).toContain("Is this good? draft 1");
  expect(asked).toContain("exactly one word: APPROVED");
});

test("a reviewer sees the objective, its last review and one answer format", async () => {
  const { reviewer } = await review(["no tests\nREVISION_NEEDED", "APPROVED"], {
    structured: false,
    team: { objective: "Ship it." },
  });
  const [first, second] = reviewer.requests.map(({ messages }) => JSON.stringify(messages));
  for (const part of ["Ship it.", "Build it.", "draft 1"]) expect(first).toContain(part);
  for (const part of ["Ship it.", "Build it.", "draft 2", "no tests"]) expect(second).toContain(part);
  expect(first!.split("REVISION_NEEDED")).toHaveLength(2);
  const structured = await review([verdict("correct")]);
  expect(JSON.stringify(structured.reviewer.requests[0]!.messages)).not.toContain("REVISION_NEEDED");
});

test("a review without a verdict is asked for it once, and its findings reach the worker", async () => {
  const says = ["Verdict: not yet, no tests", "REVISION_NEEDED", "Looks good to me.", "**APPROVED**"];
  const { result, worker, reviewer } = await review(says, { structured: false });
  expect(result.nodes["build"]).toMatchObject({ approved: true, reviews: [{ approved: false }, { approved: true }] });
  expect(JSON.stringify(reviewer.requests[1]!.messages)).toContain("Your review has no verdict.");
  expect(JSON.stringify(worker.requests[1]!.messages)).toContain("Verdict: not yet, no tests");
});

test("a review that has no verdict when it is asked again does not approve, and is not asked a third time", async () => {
  const { result, reviewer } = await review(["I approve.", "I really approve.", "LGTM", "ok", "ok", "ok"], {
    structured: false,
  });
  expect(result.nodes["build"]).toMatchObject({ status: "ok", approved: false });
  expect(reviewer.requests).toHaveLength(6);
  const failed = await review(["I approve.", broken], {
    structured: false,
    task: { review: { reviewer: "rev", maxIterations: 1 } },
  });
  expect(failed.result.nodes["build"]).toMatchObject({ approved: false, reviews: [{ feedback: "I approve." }] });
});

test("work that no round approved is accepted, and this is reported", async () => {
  const no = "again\nREVISION_NEEDED";
  const { result, warnings } = await review([no, no, no], { structured: false });
  expect(result).toMatchObject({ status: "ok", output: "draft 3", approved: false });
  expect(result.nodes["build"]).toMatchObject({ status: "ok", approved: false });
  expect(result.nodes["build"]!.reviews).toHaveLength(3);
  expect(warnings).toEqual(["REVIEW_EXHAUSTED"]);
});

test("with reviewExhausted: fail, work that no round approved fails and is kept", async () => {
  const no = "again\nREVISION_NEEDED";
  const { result } = await review([no, no, no], { structured: false, team: { reviewExhausted: "fail" } });
  expect(result).toMatchObject({ status: "failed", approved: false });
  expect(result.nodes["build"]).toMatchObject({ status: "failed", fault: { code: "NOT_APPROVED" }, output: "draft 3" });
});

test("a failed review is retried once", async () => {
  const { result, warnings } = await review([broken, "APPROVED"], { structured: false });
  expect(result.nodes["build"]).toMatchObject({ status: "ok", approved: true });
  expect(result.nodes["build.1/review"]).toMatchObject({ status: "ok" });
  expect(warnings).not.toContain("REVIEW_FAILED");
});

test("a review that failed twice is reported, and the work is not approved", async () => {
  const { result, warnings } = await review([broken, broken], { structured: false });
  expect(result).toMatchObject({ status: "ok", output: "draft 1", approved: false });
  expect(result.nodes["build"]).toMatchObject({ approved: false, reviews: [] });
  expect(warnings).toContain("REVIEW_FAILED");
  const strict = await review([broken, broken], { structured: false, team: { reviewExhausted: "fail" } });
  expect(strict.result).toMatchObject({ status: "failed" });
});

test("the bundled reviewer approves in one round when it finds the work correct", async () => {
  const result = { verdict: "correct", explanation: "fine", confidence: 1, findings: [] };
  const models = {
    worker: scripted("draft 1"),
    reviewer: scripted({ calls: [{ name: "complete_task", input: { result } }] }),
  };
  const crew = createCrew({ home: tempFolder(), userHome: tempFolder(), cwd: tempFolder(), env: {}, models });
  const done = await crew.run({
    mode: "team",
    team: {
      members: [{ role: "rev", agent: "reviewer", model: "reviewer" }],
      tasks: [{ id: "build", task: "Build it.", model: "worker", review: { reviewer: "rev" } }],
    },
  });
  expect(done).toMatchObject({ status: "ok", output: "draft 1" });
  expect(done.nodes["build"]).toMatchObject({ approved: true });
  expect(models.reviewer.requests).toHaveLength(1);
});
