import { expect, test } from "vitest";
import { imageTypeOf } from "../vocabulary/image.ts";
import { takesImages } from "./images.ts";

test.each([
  ["claude-sonnet-4-5", true],
  ["anthropic/claude-3-haiku", true],
  ["claude-2.1", false],
  ["gpt-4o-mini", true],
  ["gpt-5.1", true],
  ["gpt-4", false],
  ["gpt-3.5-turbo", false],
  ["o3", true],
  ["o3-mini", false],
  ["gemini-2.5-flash", true],
  ["gemma3:12b", true],
  ["gemma2:9b", false],
  ["qwen2.5-vl:7b", true],
  ["qwen2.5-coder", false],
  ["llama3.2-vision", true],
  ["llama3.1:8b", false],
  ["llama-4-scout", true],
  ["deepseek-chat", false],
  ["gpt-oss:20b", false],
  ["offline", false],
  ["my-own-model", undefined],
])("does the model %s take images: %s", (id, takes) => expect(takesImages(id)).toBe(takes));

test("the format of an image is recognised by its first bytes, not by the name of its file", () => {
  const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");
  expect(imageTypeOf(bytes("\u0089PNG\r\n\u001a\n..."))).toBe("image/png");
  expect(imageTypeOf(bytes("\u00ff\u00d8\u00ff\u00e0"))).toBe("image/jpeg");
  expect(imageTypeOf(bytes("GIF89a"))).toBe("image/gif");
  expect(imageTypeOf(bytes("RIFF\u0001\u0002\u0003\u0004WEBPVP8 "))).toBe("image/webp");
  expect(imageTypeOf(bytes("RIFF\u0001\u0002\u0003\u0004WAVE"))).toBeUndefined();
  expect(imageTypeOf(bytes("<svg>"))).toBeUndefined();
  expect(imageTypeOf(bytes(""))).toBeUndefined();
});
