import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { base64Decode } from "./base64-decode.ts";
import { base64Encode } from "./base64-encode.ts";

test("text encoded to base64 decodes to the same text, in the standard and the URL-safe alphabet", async () => {
  expect(await callTool(base64Encode, "/", { text: "gr\u00fc\u00df?>" })).toEqual("Z3LDvMOfPz4=");
  expect(await callTool(base64Encode, "/", { text: "gr\u00fc\u00df?>", url: true })).toEqual("Z3LDvMOfPz4");
  for (const data of ["Z3LDvMOfPz4=", "Z3LDvMOfPz4", "Z3LD\nvMOf Pz4="])
    expect(await callTool(base64Decode, "/", { data })).toEqual("gr\u00fc\u00df?>");
  expect(await callTool(base64Decode, "/", { data: "/+8=" })).toEqual("[2 bytes that are not text]\nffef");
  for (const data of ["a", "a!b=", "===="])
    await expect(callTool(base64Decode, "/", { data })).rejects.toThrow("not valid base64");
});
