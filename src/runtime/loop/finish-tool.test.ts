import { describe, expect, test } from "vitest";
import { createValidator } from "../task/compile-schema.ts";
import { type FinishAttempt, finishSpec, finishText, finishWith, finishWithoutTool } from "./finish-tool.ts";

const schema = { type: "object", properties: { n: { type: "number" } } };
/** Takes `{ n: number }` and nothing else. */
const validate = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null && "n" in value && typeof value.n === "number"
    ? undefined
    : "n must be a number";
const checked = { schema, validate };
const data: FinishAttempt = { output: '{\n  "n": 1\n}', data: { n: 1 } };

const agent = { name: "a", description: "d", instructions: "" };

describe("a result without a schema", () => {
  test.each<[string, unknown, FinishAttempt]>([
    ["a text", { result: "done" }, { output: "done" }],
    ["under another name", { report: "done" }, { problem: 'the argument "result" is missing', empty: false }],
    ["in data", { result: { data: "done" } }, { output: "done" }],
    ["an object", { result: { a: 1 } }, { output: '{\n  "a": 1\n}' }],
    ["several values", { a: 1, b: 2 }, { problem: 'the argument "result" is missing', empty: false }],
    ["an error", { result: { error: "cannot" } }, { gaveUp: "cannot" }],
    ["no value", {}, { problem: "the result is empty", empty: true }],
    ["undefined", undefined, { problem: "the result is empty", empty: true }],
    ["blanks", { result: "  \n" }, { problem: "the result is empty", empty: true }],
    ["invisible characters", { result: "\u200b\ufeff" }, { problem: "the result is empty", empty: true }],
    ["null", { result: null }, { problem: "the result is empty", empty: true }],
    ["null in data", { result: { data: null } }, { problem: "the result is empty", empty: true }],
    ["null in data beside a text", { result: { data: null, a: 1 } }, { output: '{\n  "data": null,\n  "a": 1\n}' }],
    ["an empty object", { result: {} }, { problem: "the result is empty", empty: true }],
    ["an empty list", { result: [] }, { problem: "the result is empty", empty: true }],
    ["zero, which is a value", { result: 0 }, { output: "0" }],
  ])("%s", (_what, input, wanted) => {
    expect(finishWith(input, {})).toEqual(wanted);
  });
});

describe("a result with a schema", () => {
  test.each<[string, unknown, FinishAttempt]>([
    ["are the result", { result: { n: 1 } }, data],
    ["in result and data", { result: { data: { n: 1 } } }, data],
    ["under another name", { answer: { n: 1 } }, { problem: 'the argument "result" is missing', empty: false }],
    ["the wrong type", { result: { n: "1" } }, { problem: "n must be a number", empty: false, value: { n: "1" } }],
    ["nothing", { result: null }, { problem: "the result is missing", empty: true }],
    ["an empty text", { result: " " }, { problem: "the result is missing", empty: true }],
    ["an error", { result: { error: "cannot" } }, { gaveUp: "cannot" }],
  ])("%s", (_what, input, wanted) => {
    expect(finishWith(input, checked)).toEqual(wanted);
  });
});

describe("a slip that is read as it was meant, and reported", () => {
  const levels = { type: "string", enum: ["low", "high"] };
  const schema = {
    type: "object",
    properties: {
      level: { $ref: "#/$defs/level" },
      n: { type: "integer" },
      list: { type: "array", items: { type: "object", properties: { level: levels } } },
    },
    required: ["level"],
    additionalProperties: false,
    $defs: { level: { anyOf: [levels, { type: "null" }] } },
  };
  const low = { level: "low" };
  const read = async (input: unknown) => {
    const slips: string[] = [];
    const validate = await createValidator()(schema);
    return [finishWith(input, { schema, validate }, (slip) => slips.push(slip)), slips] as const;
  };

  test.each<[string, unknown, unknown, string]>([
    ["a JSON string", { result: JSON.stringify(low) }, low, "it was a JSON string"],
    ["a JSON string in a code block", { result: '```json\n{"level": "low"}\n```' }, low, "it was a JSON string"],
    ["arguments in a JSON string", JSON.stringify({ result: low }), low, "the arguments were a JSON string"],
    ["fields without the argument", low, low, '"result" was missing around the fields'],
    ["a wrapper of any name", { result: { answer: low } }, low, 'it was wrapped in "answer"'],
    [
      "two wrappers",
      { result: { result: { data: low } } },
      low,
      'it was wrapped in "result"; it was wrapped in "data"',
    ],
    [
      "a wrapper around a JSON string",
      { result: { report: JSON.stringify(low) } },
      low,
      'it was wrapped in "report"; it was a JSON string',
    ],
    ["an enum value in other case", { result: { level: "LOW" } }, low, 'level was "LOW" in place of "low"'],
    [
      "a nested enum value in other case",
      { result: { level: null, list: [{ level: "High" }] } },
      { level: null, list: [{ level: "high" }] },
      'list.0.level was "High" in place of "high"',
    ],
    [
      "several slips",
      { level: "Low" },
      low,
      '"result" was missing around the fields; level was "Low" in place of "low"',
    ],
  ])("%s", async (_what, input, data, slip) => {
    expect(await read(input)).toEqual([{ output: JSON.stringify(data, null, 2), data }, [slip]]);
  });

  test.each<[string, unknown, string]>([
    ["a number as text", { result: { level: "low", n: "1" } }, 'n must be integer (got "1")'],
    [
      "another word",
      { result: { level: "medium" } },
      'level must be one of "low", "high" (got "medium"); level must be null (got "medium"); level must match a schema in anyOf (got "medium")',
    ],
    [
      "another field",
      { result: { level: "low", m: 1 } },
      "m is not allowed (no additional properties; allowed: level, n, list) (got an object with level, m)",
    ],
    ["no field", { result: {} }, "level is missing (got an empty object)"],
    [
      "a wrong place deep inside a JSON string",
      { result: JSON.stringify({ level: "low", list: [1] }) },
      "list.0 must be object (got 1)",
    ],
    [
      "fields without the argument that are wrong",
      { level: 3 },
      'the argument "result" is missing; level must be string (got 3)',
    ],
    ["another argument", { answer: low }, 'the argument "result" is missing'],
    ["arguments that are not JSON", '{"result": ', 'the arguments are not a JSON object (got "{\\"result\\": ")'],
  ])("nothing else is corrected: %s", async (_what, input, problem) => {
    const [attempt, slips] = await read(input);
    if (!("problem" in attempt)) throw new Error("it was accepted");
    expect([(attempt.detail ?? attempt.problem).slice(0, problem.length), slips]).toEqual([problem, []]);
  });
});

test.each<[string, unknown, FinishAttempt]>([
  ["its own name", { finalResult: "done" }, { output: "done" }],
  ["the usual name", { result: "done" }, { output: "done" }],
  ["an error under its own name", { finalResult: { error: "cannot" } }, { gaveUp: "cannot" }],
  ["any other name", { wrongArg: "done" }, { problem: 'the argument "finalResult" is missing', empty: false }],
])("an agent whose file names the result parameter of the finish tool: %s", (_what, input, wanted) => {
  expect(finishWith(input, { agent: { outputName: "finalResult" } })).toEqual(wanted);
});

describe("the last message as result", () => {
  test.each<[string, string, FinishAttempt]>([
    ["are the result", "all done", { output: "all done" }],
    ["may not be empty", " ", { problem: "the result is empty", empty: true }],
  ])("%s", (_what, text, wanted) => {
    expect(finishText(text, {})).toEqual(wanted);
  });

  test.each<[string, string, FinishAttempt]>([
    ["JSON", '{"n": 1}', data],
    ["JSON in a code block", 'Here:\n```json\n{"n": 1}\n```\nThat is all.', data],
    ["no JSON", "n is 1", { problem: "the answer is not JSON", empty: false, isProse: true, value: "n is 1" }],
    ["the wrong JSON", "[]", { problem: "n must be a number", empty: false, value: [] }],
    ["nothing", "", { problem: "the answer is empty", empty: true }],
  ])("against a schema: %s", (_what, text, wanted) => {
    expect(finishText(text, checked)).toEqual(wanted);
  });
});

describe("a last message without the finish tool", () => {
  const isText = { validate: (value: unknown) => (typeof value === "string" ? undefined : "must be a string") };
  const missing = { problem: "the finish tool was not called", empty: false };

  test.each<[string, string, Parameters<typeof finishWithoutTool>[1], FinishAttempt]>([
    ["a text where the schema allows one", "It is 42.", isText, { output: "It is 42.", data: "It is 42." }],
    ["a text that looks like JSON of another type", "42", isText, { output: "42", data: "42" }],
    ["JSON that matches the schema", '{"n": 1}', checked, data],
    ["a text that does not match", "n is 1", checked, missing],
    ["a text without a schema", "done", {}, missing],
    ["nothing", " ", isText, { ...missing, empty: true }],
  ])("%s", (_what, text, assignment, wanted) => {
    expect(finishWithoutTool(text, assignment, false)).toEqual(wanted);
    expect(finishWithoutTool(text, assignment, true)).toEqual({ ...missing, empty: text === " " });
  });
});

test("the finish tool asks for a text, or for what the schema says", () => {
  expect(finishSpec({ agent }).input).toMatchObject({
    properties: { result: { type: "string" } },
    required: ["result"],
  });
  expect(finishSpec({ agent, schema }).input).toMatchObject({ properties: { result: schema } });
});
