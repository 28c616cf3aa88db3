import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor } from "../../core/secrets/redact.ts";
import { redactedStream } from "./redacted-stream.ts";

const SECRET = "canary-secret-value-1";
const redact = createRedactor([SECRET]).text;

test("a secret that arrives in pieces is removed wherever it is split, and nothing else changes", () => {
  const text = fc.array(fc.constantFrom("a", "ä", "\n", "😀", SECRET, "x".repeat(9_000)), { maxLength: 30 });
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 8 }), (parts, sizes) => {
      const bytes = Buffer.from(parts.join(""));
      const stream = redactedStream(redact);
      let written = "";
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn % sizes.length]!;
        written += stream.take(bytes.subarray(at, at + size));
        at += size;
      }
      expect(written + stream.rest()).toBe(parts.join("").replaceAll(SECRET, "[redacted]"));
    }),
  );
});

test("an endless line is passed on without waiting for its end", () => {
  const stream = redactedStream(redact);
  const written = Array.from({ length: 100 }, () => stream.take(Buffer.from("x".repeat(10_000)))).join("");
  expect(written.length).toBeGreaterThan(900_000);
});

test("a private key without an end marker is masked to the last byte, in any pieces", () => {
  const line = "MIIEowIBAAKCAQEAabcdefghijklmnopqrstuvwxyz0123456789+/ABCDEFGHIJKL";
  for (const [lines, size] of [
    [4_000, 1_000],
    [4_000, 65_536],
    [1, 4_000],
  ] as const) {
    const text = `before\n-----BEGIN PRIVATE KEY-----\n${`${line}${lines === 1 ? "" : "\n"}`.repeat(4_000)}`;
    const stream = redactedStream(createRedactor([]).text);
    let shown = "";
    for (let at = 0; at < text.length; at += size) shown += stream.take(Buffer.from(text.slice(at, at + size)));
    shown += stream.rest();
    expect(shown.startsWith("before\n-----BEGIN PRIVATE KEY-----")).toBe(true);
    expect(shown).not.toMatch(/abcdefghij/);
  }
});

test.each([1, 2, 4])("a private key that %i lines of another program interrupt is masked, in any chunks", (count) => {
  const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
  const others = Array.from({ length: count }, (_, n) => `[worker ${n}] compiled 3 files\n`);
  for (const lines of [0, 2]) {
    const text = ["-----BEGIN PRIVATE KEY-----\n", ...Array<string>(lines).fill(`${line}\n`), ...others, `${line}\n`];
    const whole = [...text, `${line}\n`, "-----END PRIVATE KEY-----\n", "[worker 9] done\n"];
    for (const pieces of [
      whole,
      [whole.join("")],
      [text.slice(0, -2).join(""), whole.slice(text.length - 2).join("")],
    ]) {
      const stream = redactedStream(redact);
      const written = pieces.map((piece) => stream.take(Buffer.from(piece))).join("") + stream.rest();
      expect(written).not.toContain(line.slice(0, 20));
      expect(written).toContain("[worker 9] done");
    }
  }
});

test("text after a private key without an end is shown once too many other lines have followed", () => {
  const stream = redactedStream(redact);
  const hash = "0123456789abcdef0123456789abcdef01234567";
  const lines = ["-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0B", ...Array<string>(5).fill("x y"), hash];
  const written = lines.map((each) => stream.take(Buffer.from(`${each}\n`))).join("") + stream.rest();
  expect(written).toContain(hash);
});

test("a secret in base64 that is divided into lines is removed, wherever it is split", () => {
  const secret = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY".repeat(4);
  const lines = Buffer.from(secret).toString("base64").replace(/.{76}/g, "$&\n");
  for (let size = 1; size < 90; size++) {
    const stream = redactedStream(createRedactor([secret]).text);
    const bytes = Buffer.from(`before\n${lines}\nafter\n`);
    let shown = "";
    for (let at = 0; at < bytes.length; at += size) shown += stream.take(bytes.subarray(at, at + size));
    expect(shown + stream.rest()).toMatch(/^before\n\[redacted\]\S{0,4}\nafter\n$/);
  }
});
