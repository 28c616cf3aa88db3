import fc from "fast-check";
import { expect, test } from "vitest";
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
