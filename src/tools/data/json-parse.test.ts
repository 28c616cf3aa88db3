import { describe, expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonParse } from "./json-parse.ts";

describe("json_parse", () => {
  test("shows a value indented, or a part of it", async () => {
    expect(await callTool(jsonParse, "/", { text: '{"a":[{"b/c":1}]}' })).toEqual(
      '{\n  "a": [\n    {\n      "b/c": 1\n    }\n  ]\n}',
    );
    expect(await callTool(jsonParse, "/", { text: '{"a":[{"b/c":1}]}', pointer: "/a/0/b~1c" })).toEqual("1");
    expect(await callTool(jsonParse, "/", { text: '{"__proto__":1}', pointer: "/__proto__" })).toEqual("1");
    expect(await callTool(jsonParse, "/", { text: "12345678901234567890" })).toMatch(
      /\n\[whole numbers .* are rounded\]$/,
    );
  });

  test.each([
    ["{", undefined, "this is not valid JSON"],
    ["{}", "/toString", 'the value has no "toString"; its keys: none'],
    ['{"a":1}', "/b", 'the value has no "b"; its keys: a'],
    ["[1]", "/1", 'the value is a list of length 1, so "1" is not in it'],
    ["[1]", "/-1", "is not in it"],
    ["[[1]]", "/0/x", "/0 is a list of length 1"],
    ['{"a":1e400}', undefined, "the JSON contains a number that is too large to be shown"],
  ])("%s %s gets an error message", async (text, pointer, words) => {
    await expect(callTool(jsonParse, "/", { text, ...defined({ pointer }) })).rejects.toThrow(words);
  });
});
