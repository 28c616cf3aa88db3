import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { writeLine } from "./jsonl.ts";

test("the sink for JSON lines waits for a slow reader and removes its listeners afterwards", async () => {
  const read: string[] = [];
  const slow = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _, done) => {
      read.push(chunk.toString());
      setImmediate(done);
    },
  });
  const before = slow.listenerCount("close");
  for (let at = 0; at < 30; at++) {
    await writeLine(slow, { at });
    expect(slow.listenerCount("close")).toBe(before);
    expect(slow.listenerCount("drain")).toBe(0);
  }
  expect(read).toHaveLength(30);
  expect(read[29]).toBe('{"at":29}\n');
});
