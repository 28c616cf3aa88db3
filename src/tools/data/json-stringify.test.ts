import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { jsonStringify } from "./json-stringify.ts";

test("json_stringify writes on one line or indented", async () => {
  expect(await callTool(jsonStringify, "/", { value: { a: [1, null] } })).toEqual('{"a":[1,null]}');
  expect(await callTool(jsonStringify, "/", { value: [1], indent: 2 })).toEqual("[\n  1\n]");
});
