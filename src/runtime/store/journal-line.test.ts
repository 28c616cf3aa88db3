import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { KeptEvent } from "../../core/run/event.ts";
import { decodeLine, encodeLine } from "../../../test/support/encode-line.ts";
import { decodeBytes, encodeLines } from "./journal-line.ts";

const event: KeptEvent = {
  seq: 3,
  run: "run_abc",
  path: "a/b",
  at: 7,
  type: "note",
  text: 'a "quoted"\nline, ä and 😀 ',
};
const line = encodeLine(event, 2);

test("a journal record is written as one line and read back unchanged", () => {
  expect(line.indexOf("\n")).toBe(line.length - 1);
  expect(decodeLine(line.trimEnd())).toEqual({ event, epoch: 2 });
});

test("several journal records are several lines, each with its own checksum", () => {
  const lines = encodeLines([event, { ...event, seq: 4 }, { ...event, seq: 5, text: "" }], 2)
    .toString()
    .split("\n");
  expect(lines.map((each) => decodeLine(each)?.event.seq)).toEqual([3, 4, 5, undefined]);
});

test("every journal record that was written can be read", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.jsonValue(), fc.nat(), (text, data, epoch) => {
      const kept: KeptEvent = {
        seq: 1,
        run: "r",
        path: text,
        at: 0,
        type: "node.ended",
        outcome: { status: "ok", output: text, data: JSON.parse(JSON.stringify(data)) as unknown },
      };
      expect(decodeLine(encodeLine(kept, epoch).trimEnd())).toEqual({
        event: JSON.parse(JSON.stringify(kept)) as unknown,
        epoch,
      });
    }),
  );
});

test("an incomplete or changed journal record is invalid", () => {
  const whole = line.trimEnd();
  for (let length = 0; length < whole.length; length += 1)
    expect(decodeLine(whole.slice(0, length)), `cut at ${length}`).toBeUndefined();
  for (let at = 0; at < whole.length; at += 1) {
    const changed = `${whole.slice(0, at)}${whole[at] === "x" ? "y" : "x"}${whole.slice(at + 1)}`;
    expect(decodeLine(changed), `changed at ${at}`).toBeUndefined();
  }
});

test("a byte order mark and a carriage return around a journal record are ignored, but no other bytes are", () => {
  const bytes = Buffer.from(line.trimEnd());
  const read = (before: readonly number[], after: readonly number[] = []): number | undefined =>
    decodeBytes(Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]))?.epoch;
  expect([read([]), read([0xef, 0xbb, 0xbf]), read([], [0x0d]), read([0xef, 0xbb, 0xbf], [0x0d])]).toEqual([
    2, 2, 2, 2,
  ]);
  const others = [[0xef], [0xef, 0xbb], [0xef, 0xbb, 0xbe], [0xef, 0xba, 0xbf], [0xee, 0xbb, 0xbf]];
  expect(others.map((before) => read(before))).toEqual(others.map(() => undefined));
  expect(read([], [0x0d, 0x0d])).toBeUndefined();
});

test.each(["", "{}", "null", '{"crc":"zzzzzzzz","epoch":1}', '{"crc":"00000000",}'])(
  "the line %j is not a journal record",
  (text) => {
    expect(decodeLine(text)).toBeUndefined();
  },
);

test.each([
  '"a":1',
  '"epoch":1,"event":null',
  '"epoch":1,"event":{"seq":1}',
  '"epoch":1,"event":{"seq":"1","type":"note"}',
  '"epoch":"1","event":{"seq":1,"type":"note"}',
  ...[
    '"seq":1.5,"type":"future"',
    '"seq":1,"type":"future","at":1e300',
    '"seq":1,"type":"future","at":"1"',
    '"seq":1,"type":"future","path":[]',
    '"seq":1,"type":"run.started"',
    '"seq":1,"type":"run.started","plan":null',
    '"seq":1,"type":"run.started","plan":{"nodes":{"a":null},"output":"a"}',
    '"seq":1,"type":"run.started","plan":{"nodes":{},"output":"a"},"settings":null',
    '"seq":1,"type":"run.ended","outcome":null',
    '"seq":1,"type":"run.ended","outcome":{"status":"odd"}',
    '"seq":1,"type":"node.ended","outcome":{"status":"failed","fault":null}',
    '"seq":1,"type":"node.ended","outcome":{"status":"ok","output":"a","usage":{"input":"1"}}',
    '"seq":1,"type":"node.ended","outcome":{"status":"ok","output":["a"]}',
    '"seq":1,"type":"turn.ended","calls":{}',
    '"seq":1,"type":"tool.ended","call":1,"tool":"a"',
  ].map((event) => `"epoch":1,"event":{${event}}`),
])("even with a correct checksum, %s is not a journal record", (body) => {
  expect(decodeLine(`{"crc":"${crc32(body).toString(16).padStart(8, "0")}",${body}}`)).toBeUndefined();
});
