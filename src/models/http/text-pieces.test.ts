import { expect, test } from "vitest";
import { TextPieces } from "./text-pieces.ts";

/** A text, and the list of pauses and resumes that its sender was asked for. */
function open(): { text: TextPieces; told: string[] } {
  const told: string[] = [];
  return { text: new TextPieces({ pause: () => told.push("pause"), resume: () => told.push("resume") }), told };
}

async function all(text: TextPieces): Promise<string> {
  let read = "";
  for await (const piece of text) read += piece;
  return read;
}

test("a text that arrives in pieces: one read returns everything since the last read", async () => {
  const { text } = open();
  text.push("a");
  text.push("b");
  expect(await text.next()).toEqual({ done: false, value: "ab" });
  text.push("c");
  text.end();
  expect(await text.next()).toEqual({ done: false, value: "c" });
  expect(await text.next()).toEqual({ done: true, value: undefined });
});

test("a text that arrives in pieces: a waiting reader gets the next piece", async () => {
  const { text } = open();
  const waiting = text.next();
  text.push("now");
  expect(await waiting).toEqual({ done: false, value: "now" });
});

test("a text that arrives in pieces: an empty text ends at once", async () => {
  const { text } = open();
  text.end();
  expect(await all(text)).toBe("");
});

test("a text that arrives in pieces: text before an error is read first, then the error", async () => {
  const { text } = open();
  text.push("half");
  text.end(new Error("cut"));
  text.end();
  expect(await text.next()).toEqual({ done: false, value: "half" });
  await expect(text.next()).rejects.toThrow("cut");
});

test("a text that arrives in pieces: a sender that is faster than the reader is paused once, and resumed by the next read", async () => {
  const { text, told } = open();
  text.push("x".repeat(1 << 20));
  expect(told).toEqual([]);
  text.push("y");
  text.push("z");
  expect(told).toEqual(["pause"]);
  await text.next();
  expect(told).toEqual(["pause", "resume"]);
});
