import fc from "fast-check";
import { expect, test } from "vitest";
import type { Delta, Fact } from "../../core/run/event.ts";
import { createRedactor, REDACTED } from "../../core/secrets/redact.ts";
import type { Outlets } from "./feature.ts";
import { redacting } from "./redaction.ts";

const CANARY = "c4nary-VALUE-0123456789";

function outlets(): Outlets & { said: string[]; facts: Fact[] } {
  const said: string[] = [];
  const facts: Fact[] = [];
  const inner: Outlets = {
    emit: (_, fact) => void (said.push(fact.type), facts.push(fact)),
    live: (_, delta) => void said.push(delta.text),
  };
  return { ...redacting(createRedactor([CANARY]), inner), said, facts };
}

const text = (words: string): Delta => ({ type: "text.delta", text: words });
const end: Fact = { type: "tool.ended", call: "1", tool: "x", error: false, text: "", ms: 0 };

test("secrets are removed from an event", () => {
  const { emit, facts } = outlets();
  emit("a", { ...end, text: `key is ${CANARY}` });
  expect(facts).toMatchObject([{ text: "key is [redacted]" }]);
});

test("complete words are shown at once, and all text before the turn ends", () => {
  const { emit, live, said } = outlets();
  for (const piece of ["Hel", "lo ", "wor", "ld, how", " are"]) live("a", text(piece));
  emit("a", end);
  expect(said).toEqual(["Hello ", "world, ", "how ", "are", "tool.ended"]);
});

test("each path and kind of delta is buffered separately", () => {
  const { emit, live, said } = outlets();
  live("a", text("one"));
  live("b", text("two"));
  live("a", { type: "tool.delta", call: "1", text: "three" });
  live("a", { type: "tool.delta", call: "2", text: "four" });
  emit("a", end);
  emit("", { type: "run.ended", outcome: { status: "ok", output: "" } });
  expect(said).toEqual(["one", "three", "four", "tool.ended", "two", "run.ended"]);
});

test.each([
  `my key is ${CANARY} ok?`,
  "header Authorization: Bearer abcdefghij0123456789 end",
  "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\nend",
  "clone https://user:hunter2-secret@host.example/x end",
  "use sk-proj-abcDEF1234567890abcd now",
  `base64: ${Buffer.from(CANARY)
    .toString("base64")
    .replace(/.{32}$/, "\n$&")} end`,
  `base64:\n${Buffer.from(Buffer.from(CANARY).toString("base64")).toString("base64").replace(/.{36}/, "$&\n")}\nend`,
])("a secret in pieces is never shown: %s", (whole) => {
  const wanted = createRedactor([CANARY]).text(whole);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (sizes) => {
      const { emit, live, said } = outlets();
      for (let at = 0, n = 0; at < whole.length; n += 1) {
        const size = sizes[n % sizes.length]!;
        live("a", text(whole.slice(at, at + size)));
        at += size;
      }
      emit("a", end);
      expect(said.slice(0, -1).join("")).toEqual(wanted);
    }),
    { numRuns: 200 },
  );
});

test.each(["correct horse battery 77", "first line\nsecond line\n3"])(
  "a secret with blanks or line breaks is never shown in pieces: %j",
  (secret) => {
    const whole = `it is ${secret}, not ${secret.slice(0, 10)}? Only ${secret}\n`;
    for (let size = 1; size <= whole.length; size += 1) {
      let shown = "";
      const { emit, live } = redacting(createRedactor([secret]), {
        emit: () => {},
        live: (_, delta) => void (shown += delta.text),
      });
      for (let at = 0; at < whole.length; at += size) live("a", text(whole.slice(at, at + size)));
      emit("a", end);
      expect(shown, `pieces of ${size}`).toBe(`it is ${REDACTED}, not ${secret.slice(0, 10)}? Only ${REDACTED}\n`);
    }
  },
);

test("text without spaces is not held back for ever", () => {
  const { live, said } = outlets();
  for (let n = 0; n < 200; n += 1) live("a", text("x".repeat(100)));
  expect(said.join("").length).toBeGreaterThan(10_000);
});

test("a secret in an endless word is removed wherever the pieces are cut", () => {
  const secret = "sk-canary-7Fq9Zt3LxWvB2mNc8RdY";
  const redactor = createRedactor([secret]);
  for (const before of [7_990, 8_000, 8_190, 20_000])
    for (const piece of [8_192, 65_536, 1_000]) {
      let shown = "";
      const { emit, live } = redacting(redactor, { emit: () => {}, live: (_, { text }) => void (shown += text) });
      const whole = `${"a".repeat(before)}${secret}${"b".repeat(30_000)}`;
      for (let at = 0; at < whole.length; at += piece)
        live("x", { type: "tool.delta", call: "1", text: whole.slice(at, at + piece) });
      emit("x", end);
      expect(shown.replace(REDACTED, "")).toBe(`${"a".repeat(before)}${"b".repeat(30_000)}`);
    }
});
