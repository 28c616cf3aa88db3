import { describe, expect, test } from "vitest";
import { callTool } from "../../test/support/call-tool.ts";
import { emptyDesk } from "../core/desk.ts";
import { ask } from "./ask.ts";
import { base64Decode } from "./base64-decode.ts";
import { base64Encode } from "./base64-encode.ts";
import { getEnv } from "./get-env.ts";
import { jsonParse } from "./json-parse.ts";
import { jsonStringify } from "./json-stringify.ts";
import { notify } from "./notify.ts";
import { reportFinding } from "./report-finding.ts";
import { setEnv } from "./set-env.ts";
import { sleep } from "./sleep.ts";
import { todo } from "./todo.ts";

describe("json_parse", () => {
  test("shows a value indented, or a part of it", async () => {
    expect(await callTool(jsonParse, "/", { text: '{"a":[{"b/c":1}]}' })).toEqual('{\n  "a": [\n    {\n      "b/c": 1\n    }\n  ]\n}');
    expect(await callTool(jsonParse, "/", { text: '{"a":[{"b/c":1}]}', pointer: "/a/0/b~1c" })).toEqual("1");
    expect(await callTool(jsonParse, "/", { text: '{"__proto__":1}', pointer: "/__proto__" })).toEqual("1");
  });

  test.each([
    ["{", undefined, "this is no JSON"],
    ["{}", "/toString", 'the value has no "toString"; there is nothing'],
    ['{"a":1}', "/b", 'the value has no "b"; there is a'],
    ["[1]", "/1", 'the value is a list of 1, so "1" is not in it'],
    ["[1]", "/-1", "is not in it"],
    ["[[1]]", "/0/x", "/0 is a list of 1"],
  ])("%s %s is answered with a sentence", async (text, pointer, words) => {
    await expect(callTool(jsonParse, "/", { text, ...(pointer !== undefined && { pointer }) })).rejects.toThrow(words);
  });
});

test("json_stringify writes on one line or indented", async () => {
  expect(await callTool(jsonStringify, "/", { value: { a: [1, null] } })).toEqual('{"a":[1,null]}');
  expect(await callTool(jsonStringify, "/", { value: [1], indent: 2 })).toEqual("[\n  1\n]");
});

test("base64 goes there and back, in both alphabets", async () => {
  expect(await callTool(base64Encode, "/", { text: "gr\u00fc\u00df?>" })).toEqual("Z3LDvMOfPz4=");
  expect(await callTool(base64Encode, "/", { text: "gr\u00fc\u00df?>", url: true })).toEqual("Z3LDvMOfPz4");
  for (const data of ["Z3LDvMOfPz4=", "Z3LDvMOfPz4", "Z3LD\nvMOf Pz4="]) expect(await callTool(base64Decode, "/", { data })).toEqual("gr\u00fc\u00df?>");
  expect(await callTool(base64Decode, "/", { data: "/+8=" })).toEqual("[2 bytes that are no text]\nffef");
  for (const data of ["a", "a!b=", "===="]) await expect(callTool(base64Decode, "/", { data })).rejects.toThrow("no base64");
});

describe("sleep", () => {
  test("waits, and no longer than it may", async () => {
    expect(await callTool(sleep, "/", { seconds: 0.02 })).toEqual("Waited 20ms.");
    await expect(callTool(sleep, "/", { seconds: 301 })).rejects.toThrow();
  });

  test("ends when the task is stopped", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    await expect(callTool(sleep, "/", { seconds: 100 }, { signal: controller.signal })).rejects.toThrow("broken off");
  });
});

describe("SEC-05: the environment of a task", () => {
  const env = { PATH: "/bin", HOME: "/home/u" };

  test("only what is passed on can be seen, by its exact name", async () => {
    expect(await callTool(getEnv, "/", {}, { env })).toEqual("HOME=/home/u\nPATH=/bin");
    expect(await callTool(getEnv, "/", { name: "PATH" }, { env })).toEqual("/bin");
    for (const name of ["ANTHROPIC_API_KEY", "path", "constructor", "__proto__", "*"]) expect(await callTool(getEnv, "/", { name }, { env })).toEqual(`The variable ${name} is not available here.`);
  });

  test("what a task sets is seen by that task, and by nobody else", async () => {
    const [desk, other] = [emptyDesk(), emptyDesk()];
    await callTool(setEnv, "/", { name: "STAGE", value: "test" }, { env, desk });
    expect(await callTool(getEnv, "/", { name: "STAGE" }, { env, desk })).toEqual("test");
    expect(await callTool(getEnv, "/", { name: "STAGE" }, { env, desk: other })).toContain("not available");
    expect(process.env["STAGE"]).toBeUndefined();
    await callTool(setEnv, "/", { name: "STAGE", value: "" }, { env, desk });
    expect(desk.env.size).toEqual(0);
  });

  test.each(["PATH", "path", "LD_PRELOAD", "NODE_OPTIONS", "GIT_SSH_COMMAND", "BASH_ENV", "HTTPS_PROXY", "PYTHONPATH", "SUBCREW_HOME", "OPENAI_BASE_URL", "PAGER", "DYLD_INSERT_LIBRARIES"])(
    "%s steers programs and cannot be set",
    async (name) => {
      await expect(callTool(setEnv, "/", { name, value: "x" })).rejects.toThrow("cannot be set");
    },
  );

  test.each(["", "1A", "A-B", "A=B", "A B", "A\0"])("%j is no name", async (name) => {
    await expect(callTool(setEnv, "/", { name, value: "x" })).rejects.toThrow();
  });
});

test("notify tells whoever started the task", async () => {
  const told: string[] = [];
  expect(await callTool(notify, "/", { message: "half way" }, { notify: (text) => void told.push(text) })).toEqual("Told.");
  expect(told).toEqual(["half way"]);
});

test("a todo list grows, changes and is shown after each call", async () => {
  const desk = emptyDesk();
  const call = (input: object): Promise<string> => callTool(todo, "/", input, { desk });
  expect(await call({ action: "list" })).toEqual("[the list is empty]");
  await call({ action: "add", title: "look" });
  expect(await call({ action: "add", items: [{ title: "write\nit", status: "in_progress" }, { title: "test" }] })).toEqual("1. [ ] look\n2. [>] write it\n3. [ ] test\n3 of 3 open.");
  await call({ action: "complete", id: 1 });
  await call({ action: "update", id: 2, status: "dropped", title: "write" });
  expect(await call({ action: "complete", id: 3 })).toEqual("1. [x] look\n2. [-] write\n3. [x] test\nAll done.");
  expect(await call({ action: "set", items: [{ title: "anew" }] })).toEqual("1. [ ] anew\n1 of 1 open.");
  await expect(call({ action: "complete", id: 2 })).rejects.toThrow("there is no entry 2: the list has 1");
  await expect(call({ action: "complete" })).rejects.toThrow("say which entry");
  await expect(call({ action: "add" })).rejects.toThrow("say what to add");
  await expect(call({ action: "update", id: 1 })).rejects.toThrow("say what to change");
});

describe("ask", () => {
  const input = { question: "Which one?", options: ["red", "blue"] };
  const asking = (answer: { approve: boolean; text?: string } | undefined) => ({ ask: async () => answer });

  test("puts the question with its choices, and understands a number", async () => {
    const asked: string[] = [];
    const answered = await callTool(ask, "/", input, { ask: async (question) => (asked.push(question), { approve: true, text: "2" }) });
    expect(asked).toEqual(["Which one?\n1. red\n2. blue"]);
    expect(answered).toEqual("Answer: blue");
    expect(await callTool(ask, "/", input, asking({ approve: true, text: "green, if possible" }))).toEqual("Answer: green, if possible");
    expect(await callTool(ask, "/", { question: "Sure?" }, asking({ approve: false }))).toEqual("Answer: no");
  });

  test("says when nobody is there", async () => {
    expect(await callTool(ask, "/", input)).toContain("Nobody is there to answer");
    expect(await callTool(ask, "/", input, asking(undefined))).toContain("Nobody is there to answer");
  });
});

test("report_finding writes down what is wrong, where and how bad", async () => {
  const [desk, told] = [emptyDesk(), [] as string[]];
  const finding = { title: "Off by one", body: "The last line is lost.", priority: "P1", confidence: 0.8, path: "src/a.ts", line: 10, endLine: 12 };
  expect(await callTool(reportFinding, "/", finding, { desk, notify: (text) => void told.push(text) })).toEqual("Finding 1 is reported: [P1, confidence 0.8] Off by one (src/a.ts:10-12)");
  expect(await callTool(reportFinding, "/", { title: "Name", body: "x", priority: "P3" }, { desk })).toEqual("Finding 2 is reported: [P3] Name");
  expect(told).toEqual(["[P1, confidence 0.8] Off by one (src/a.ts:10-12)\nThe last line is lost."]);
});
