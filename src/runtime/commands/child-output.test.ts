import { statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { collectOutput } from "./child-output.ts";

const CHUNK = Buffer.alloc(65_536, "y");

/** A program that prints continuously, up to a limit. */
function endless(chunks: number): { stream: Readable; given(): number } {
  let given = 0;
  const stream = new Readable({
    read() {
      this.push(given++ < chunks ? CHUNK : null);
    },
  });
  return { stream, given: () => given };
}

describe("endless output does not block the process", () => {
  test("thirty endless programs share each turn of the event loop", async () => {
    let taken = 0;
    const programs = Array.from({ length: 30 }, () => endless(100));
    for (const { stream } of programs) collectOutput({ onText: () => taken++ }).read(stream);
    await nextTurn();
    expect(taken).toBeLessThanOrEqual(2 * programs.length);
    for (let turn = 0; turn < 20; turn++) {
      const before = taken;
      await nextTurn();
      expect(taken - before).toBeLessThanOrEqual(2);
    }
    expect(taken).toBeGreaterThan(programs.length);
    for (const { stream } of programs) stream.destroy();
  });

  test("the output of all programs is read in turn", async () => {
    const programs = Array.from({ length: 5 }, () => endless(100));
    for (const { stream } of programs) collectOutput({}).read(stream);
    for (let turn = 0; turn < 400; turn++) await nextTurn();
    for (const { given } of programs) expect(given()).toBeGreaterThan(5);
    for (const { given } of programs) expect(given()).toBeLessThan(50);
    for (const { stream } of programs) stream.destroy();
  });

  test("after a program is asked to end, its output is kept up to a limit and then discarded", async () => {
    let looked = 0;
    const output = collectOutput({ onText: (text) => void (looked += text.length) });
    const { stream } = endless(8);
    output.read(stream);
    output.expectEnd();
    await output.drain(60_000);
    expect(looked).toBeGreaterThan(0);
    expect(looked).toBeLessThanOrEqual(262_144 + CHUNK.length);
  });

  test("output that is not needed any longer is not read, written or awaited", async () => {
    const file = join(tempFolder(), "out.txt");
    let looked = 0;
    const output = collectOutput({ file, onText: (text) => void (looked += text.length) });
    const { stream } = endless(200);
    output.read(stream);
    while (output.file() === undefined) await nextTurn();
    output.forget();
    const [before, size] = [looked, statSync(file).size];
    await output.drain(600_000);
    await output.close();
    expect({ looked, text: output.text(), news: output.news() }).toEqual({ looked: before, text: "", news: "" });
    expect(statSync(file).size - size).toBeLessThan(2_000_000);
    stream.destroy();
  });

  test("a long output arrives complete and in order", async () => {
    let text = "";
    const whole = Array.from({ length: 40 }, (_, at) => String(at % 10).repeat(65_536)).join("");
    const all = collectOutput({ onText: (part) => void (text += part) });
    const parts = Array.from({ length: 40 }, (_, at) => Buffer.from(whole.slice(at * 65_536, (at + 1) * 65_536)));
    all.read(Readable.from(parts));
    await all.drain(60_000);
    expect(text === whole).toBe(true);
  });
});

test("discarded output is not read while the machine has no free processor time", async () => {
  const { stream, given } = endless(100);
  const output = collectOutput({});
  output.read(stream);
  output.forget();
  await nextTurn();
  const before = given();
  // this wait is longer than the pause between two reads
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 650);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect([given(), stream.isPaused()]).toEqual([before, true]);
  stream.destroy();
});

test("a private key is masked also if new output is read in the middle of it", async () => {
  const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
  const stream = new Readable({ read() {} });
  const output = collectOutput({});
  output.read(stream);
  const news = async (text: string): Promise<string> => {
    stream.push(text);
    await nextTurn();
    return output.news();
  };
  await news(`-----BEGIN PRIVATE KEY-----\n${line}${line.slice(0, 30)}`);
  expect(await news(line.slice(30))).not.toContain(line.slice(30, 50));
  expect(await news("[worker 2] done\n")).toBe("[worker 2] done\n");
  expect(await news(`${line}-----END PRIVATE KEY-----\nready\n`)).toBe("[redacted]-----END PRIVATE KEY-----\nready\n");
  expect(await news(line)).toBe(line);
  stream.destroy();
});
