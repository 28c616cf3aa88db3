import fc from "fast-check";
import { expect, test } from "vitest";
import { LargeAnswerError } from "./answer-size.ts";
import { createEventReader } from "./sse.ts";

const read = (pieces: readonly string[]): string[] => {
  const reader = createEventReader();
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
};

test.each([
  ["one event", "data: a\n\n", ["a"]],
  ["without the space", "data:a\n\ndata: b\n\n", ["a", "b"]],
  ["named, with an id", "id: 1\nevent: x\ndata: a\n\n", ["a"]],
  ["comments and names alone", ": hi\n\nevent: x\n\ndata: a\n\n", ["a"]],
  ["several lines of data", "data: a\ndata: b\n\n", ["a\nb"]],
  ["carriage returns", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["no end", "data: a\n\ndata: b", ["a", "b"]],
  ["nothing", "", []],
])("an event stream is parsed: %s", (_, text, events) => {
  expect(read([text])).toEqual(events);
});

test("the events of a stream are the same however it is cut into pieces", () => {
  const text = "event: a\r\ndata: one\r\n\r\n: note\n\ndata: two\ndata: more\n\ndata:three";
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), text.length];
      expect(read(at.slice(1).map((end, i) => text.slice(at[i], end)))).toEqual(["one", "two\nmore", "three"]);
    }),
  );
});

test.each([
  ["one event", () => ["data: ", ...Array.from({ length: 20 }, () => "x".repeat(MEGA))]],
  ["many events", () => Array.from({ length: 80 }, () => `data: ${"x".repeat(MEGA)}\n\n`)],
])("a stream that never stops is refused: %s", (_, pieces) => {
  expect(() => read(pieces())).toThrow(LargeAnswerError);
});

test("the time to read an event does not depend on the number of its pieces", () => {
  const text = "x".repeat(8 * MEGA);
  const pieces = Array.from({ length: text.length / 1_024 }, (_, at) => text.slice(at * 1_024, (at + 1) * 1_024));
  const began = performance.now();
  expect(read(["data: ", ...pieces, "\n", "\n"])).toEqual([text]);
  expect(performance.now() - began).toBeLessThan(2_000);
});

const MEGA = 1_024 * 1_024;
