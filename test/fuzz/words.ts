import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect } from "vitest";
import { expandCommand, expandSkill } from "../../src/core/agent/skill-arguments.ts";
import { parsePlan } from "../../src/core/plan/check.ts";
import { parseRules } from "../../src/core/rules/rule.ts";
import type { KeptEvent } from "../../src/core/run/event.ts";
import { isCrewError } from "../../src/core/schema/error.ts";
import { createRedactor, REDACTED } from "../../src/core/secrets/redact.ts";
import { fillInputs } from "../../src/core/text/input-template.ts";
import { reveal, sanitize } from "../../src/core/text/sanitize.ts";
import { fill } from "../../src/core/text/template.ts";
import { createEventReader } from "../../src/models/wires/sse.ts";
import { compile } from "../../src/modes/compile.ts";
import { pipeChannel } from "../../src/runners/process/pipe-channel.ts";
import { redactedStream } from "../../src/runtime/commands/redacted-stream.ts";
import { redacting } from "../../src/runtime/features/redaction.ts";
import { readRecords } from "../support/read-records.ts";
import { encodeLine } from "../support/encode-line.ts";
import { cuts, inPieces, mutated, type Tries } from "./mutate.ts";

const anyText = fc.string({ unit: "binary", maxLength: 200 });

/** Runs a function, which may throw only subcrew's own errors. */
function orRefused(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!isCrewError(error)) throw error;
    expect(error.message).not.toBe("");
    expect(error.hint).not.toBe("");
  }
}

const note = (seq: number, text: string): KeptEvent => ({ seq, run: "run_1", path: "a", at: 0, type: "note", text });

const NEWLINE = 10;

/**
 * FUZZ-05: a journal with any content is read up to the damage, or reported as damaged; the records that are read are
 * the written ones.
 */
export function journalsAreRead(tries: Tries): void {
  const journals = fc.record({
    texts: fc.array(anyText, { minLength: 1, maxLength: 8 }),
    spoil: fc.option(fc.record({ at: fc.nat(), bytes: fc.uint8Array({ maxLength: 6 }), cut: fc.nat(80) }), {
      nil: undefined,
      freq: 4,
    }),
  });
  fc.assert(
    fc.property(journals, ({ texts, spoil }) => {
      const events = texts.map((text, index) => note(index + 1, Buffer.from(text).toString()));
      const whole = Buffer.from(events.map((event) => encodeLine(event, 1)).join(""));
      if (!spoil) {
        expect(readRecords(whole, "x").events).toEqual(events);
        return;
      }
      const at = spoil.at % whole.length;
      const spoiled = Buffer.concat([whole.subarray(0, at), spoil.bytes, whole.subarray(at + spoil.cut)]);
      orRefused(() => {
        const { events: read } = readRecords(spoiled, "x");
        expect(read).toEqual(events.slice(0, read.length));
        // Complete records are not lost, whatever follows them.
        const before = whole.subarray(0, at).filter((byte) => byte === NEWLINE).length;
        expect(read.length).toBeGreaterThanOrEqual(before);
      });
    }),
    tries,
  );
}

/**
 * FUZZ-05: server-sent events and JSON lines mean the same however the stream is cut, and no content breaks a reader.
 */
export async function splitsDoNotMatter(tries: Tries): Promise<void> {
  const stream = mutated(['data: {"a":1}\n\nevent: x\nid: 3\ndata: two\ndata: lines\n\n: comment\n\ndata: [DONE]\n\n']);
  const read = (pieces: readonly string[]): string[] => {
    const reader = createEventReader();
    return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
  };
  fc.assert(
    fc.property(stream, cuts, (text, at) => {
      expect(read(inPieces(at, text))).toEqual(read([text]));
    }),
    tries,
  );
  const lines = fc.array(fc.oneof(fc.json({ maxDepth: 2 }), fc.constant('{"type":"emit","fact":{}}'), anyText), {
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(lines, cuts, async (all, at) => {
      const bytes = Buffer.from(`${all.join("\n")}\n`).toString("latin1");
      expect(await received(inPieces(at, bytes))).toEqual(await received([bytes]));
    }),
    { ...tries, numRuns: Math.ceil(tries.numRuns / 4) },
  );
}

/** The messages that a channel receives when its bytes come in these pieces. */
function received(pieces: readonly string[]): Promise<unknown[]> {
  const input = new PassThrough();
  const heard: unknown[] = [];
  return new Promise((resolve) => {
    pipeChannel(input, new PassThrough()).listen(
      (message) => heard.push(message),
      () => resolve(heard),
    );
    for (const piece of pieces) input.write(Buffer.from(piece, "latin1"));
    input.end();
  });
}

const FORBIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const SEQUENCES = [
  "\x1b[31m",
  "\x1b]0;title\x07",
  "\x1b]8;;http://x\x1b\\",
  "\x9b1;2H",
  "\x90q\x9c",
  "\x1b",
  "\x1bP",
  "\r",
  "\b",
  "\x07",
  ...["\u061c", "\u200e", "\u200f", "\u202a", "\u202d", "\u202e", "\u2066", "\u2069"],
];

/** FUZZ-06: shown text cannot control a terminal, in any pieces; plain text stays as it is. */
export function terminalsAreSafe(tries: Tries): void {
  const texts = fc
    .array(fc.oneof(fc.constantFrom(...SEQUENCES), fc.string({ unit: "binary", maxLength: 6 })), { maxLength: 20 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, cuts, fc.string({ unit: "grapheme", maxLength: 40 }), (text, at, plain) => {
      const clean = sanitize(text);
      expect(clean).not.toMatch(FORBIDDEN);
      expect(sanitize(clean)).toBe(clean);
      expect(reveal(text)).not.toMatch(FORBIDDEN);
      expect(inPieces(at, text).map(sanitize).join("")).not.toMatch(FORBIDDEN);
      if (!FORBIDDEN.test(plain)) expect(sanitize(plain)).toBe(plain);
    }),
    tries,
  );
}

const codes = (text: string, spell: (code: number) => string): string =>
  Array.from(text, (each) => spell(each.charCodeAt(0))).join("");

/** FUZZ-07: a secret is removed from every output, in any pieces; text without one stays as it is. */
export function secretsAreGone(tries: Tries): void {
  const secrets = fc.string({
    unit: fc.constantFrom(...Array.from('abcXYZ0189-_+/=%&"\\é ')),
    minLength: 12,
    maxLength: 30,
  });
  const around = fc.string({ unit: fc.constantFrom(...Array.from("mnop \n.,")), maxLength: 30 });
  fc.assert(
    fc.property(secrets, around, around, cuts, (secret, before, after, at) => {
      fc.pre(secret.trim() === secret);
      const redactor = createRedactor([secret]);
      expect(redactor.text(before + after)).toBe(before + after);
      const spellings = [secret, Buffer.from(secret).toString("base64"), JSON.stringify(secret).slice(1, -1)];
      const escapes = [
        codes(secret, (code) => `\\u${code.toString(16).padStart(4, "0")}`),
        codes(secret, (code) => `&#${code};`),
      ];
      spellings.push(...escapes, encodeURIComponent(secret), Buffer.from(secret).toString("hex"));
      for (const spelled of spellings) {
        const told = redactor.text(`${before}${spelled}${after}`);
        expect(told).not.toContain(spelled);
        expect(told).toContain(REDACTED);
      }
      // Base64 of a text that contains the secret, at every offset in a group of three bytes.
      const coded = Buffer.from(`${before}${secret}${after}`).toString("base64");
      const left = Buffer.from(redactor.text(coded).split(REDACTED).join(""), "base64").toString("latin1");
      expect(left).not.toContain(Buffer.from(secret.slice(2, -2)).toString("latin1"));
      // The last word is held back until the end, so a secret at the end of the text is published with the run's end.
      for (const last of [` ${after}`, ""]) {
        const streamed = /\s/.test(secret) ? "" : `${before} ${secret}${last}`;
        const { shown, lived } = told(redactor, inPieces(at, streamed), `${before}${secret}${after}`);
        expect(shown).not.toContain(secret);
        // Text that is not secret arrives complete.
        expect(lived).toBe(redactor.text(streamed));
      }
    }),
    tries,
  );
}

/** The outputs of a run when live text comes in these pieces and the run ends with this text. */
function told(
  redactor: ReturnType<typeof createRedactor>,
  pieces: readonly string[],
  output: string,
): { shown: string; lived: string } {
  const [shown, lived]: [string[], string[]] = [[], []];
  const { emit, live } = redacting(redactor, {
    emit: (_, fact) => void shown.push(JSON.stringify(fact)),
    live: (_, { text }) => void (shown.push(text), lived.push(text)),
  });
  for (const text of pieces) live("a", { type: "text.delta", text });
  emit("a", { type: "note", text: output });
  emit("", { type: "run.ended", outcome: { status: "ok", output } });
  return { shown: shown.join(""), lived: lived.join("") };
}

/** Spellings of one character of a private key; line ends stay, so that the lines can come one by one. */
const SPELLINGS: readonly ((char: string) => string)[] = [
  (char) => char,
  (char) => `%${char.charCodeAt(0).toString(16)}`,
  (char) => `&#${char.charCodeAt(0)};`,
  (char) => `&#x${char.charCodeAt(0).toString(16)};`,
  (char) => `\\u00${char.charCodeAt(0).toString(16)}`,
];

/** FUZZ-07: no line of a private key is published, in any case, with any escapes, in any pieces. */
export function keysAreGone(tries: Tries): void {
  const line = fc.string({ unit: fc.constantFrom(...Array.from("ABCxyz019+/")), minLength: 40, maxLength: 64 });
  const kinds = fc.constantFrom("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ");
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 5 }),
      kinds,
      fc.boolean(),
      fc.constantFrom(...SPELLINGS),
      fc.constantFrom(...SPELLINGS),
      cuts,
      (lines, kind, lower, dashes, letters, at) => {
        const marker = (name: string): string => {
          const text = `-----${name} ${kind}PRIVATE KEY-----`;
          return Array.from(lower ? text.toLowerCase() : text, (char) => (char === "-" ? dashes : letters)(char)).join(
            "",
          );
        };
        const body = lines.map((each) => Array.from(each, letters).join(""));
        const text = [marker("BEGIN"), ...body, marker("END"), ""].join("\n");
        const redactor = createRedactor([]);
        const stream = redactedStream(redactor.text);
        const pieces = inPieces(at, text);
        const written = pieces.map((piece) => stream.take(Buffer.from(piece))).join("") + stream.rest();
        const { shown } = told(redactor, pieces, text);
        for (const out of [redactor.text(text), written, shown])
          for (const each of body) expect(out).not.toContain(each.slice(0, 200));
      },
    ),
    tries,
  );
}

/**
 * Inputs, plans and rules of people and models: accepted or refused with subcrew's own errors, and templates are filled
 * once.
 */
export function inputsAreJudged(tries: Tries): void {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(
        null,
        true,
        0,
        -1,
        1.5,
        "",
        "a",
        "n0",
        "single",
        "parallel",
        "team",
        "chain",
        "race",
        "{a}",
      ),
      anyText,
      fc.array(tie("any"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...KEYS), tie("any"), { maxKeys: 6 }),
    ),
  })).any;
  fc.assert(
    fc.property(
      value,
      fc.constantFrom("single", "parallel", "chain", "race", "team", "plan"),
      anyText,
      (given, mode, text) => {
        orRefused(() => parsePlan(given));
        orRefused(() => compile(given));
        orRefused(() => compile({ ...(given as object), mode }));
        orRefused(() => parseRules([text]));
        const inputs = { a: text, b: "${a}" };
        expect(fillInputs("<${a}|${b}>", inputs)).toBe(`<${text}|\${a}>`);
        expect(fill("<{a}|{b}>", new Map(Object.entries({ a: text, b: "{a}" })))).toBe(`<${text}|{a}>`);
        expect(typeof expandSkill(text, text) + typeof expandCommand(text, text)).toBe("stringstring");
      },
    ),
    tries,
  );
}

const KEYS = [
  ...[
    "nodes",
    "output",
    "kind",
    "needs",
    "task",
    "tasks",
    "prompt",
    "refs",
    "mode",
    "agent",
    "agents",
    "chain",
    "race",
    "team",
  ],
  ...[
    "members",
    "role",
    "id",
    "depends",
    "review",
    "retry",
    "maxAttempts",
    "pick",
    "count",
    "body",
    "until",
    "max",
    "a",
    "n0",
  ],
  ...["__proto__", "constructor", "toString", "concurrency", "context", "resourceLimits", "model", "tools"],
];
