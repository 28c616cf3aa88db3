import type { Delta, Fact } from "../../core/run/event.ts";
import { wrappedDataBefore } from "../../core/secrets/decode.ts";
import { OpenKey, unfinishedKey } from "../../core/secrets/private-key.ts";
import { createRedactor, REDACTED, type Redactor } from "../../core/secrets/redact.ts";
import type { Feature, Outlets } from "./feature.ts";

export const redactionFeature: Feature = {
  name: "redaction",
  does: "removes secrets from everything that is recorded or shown",
  open: ({ redactor = createRedactor([]) }) => ({
    outlets: (inner) => redacting(redactor, inner),
    scope: () => ({ redact: (text) => redactor.text(text) }),
  }),
};

/**
 * Wraps the outputs of a run and removes every secret. A secret may arrive in pieces: the last word of a piece of live
 * text is held until it is complete, at the latest until the event that ends its turn or tool.
 */
export function redacting(redactor: Redactor, { emit, live }: Outlets): Outlets {
  const held = new Map<string, Map<string, Delta>>();
  /** The tasks and tools whose live text stopped in the middle of a private key that was too long to be held back. */
  const keys = new Map<string, OpenKey>();
  const clean = (stream: string, text: string): string => {
    const key = keys.get(stream) ?? new OpenKey();
    const open = key.take(text, REDACTED);
    if (key.isInside) keys.set(stream, key);
    else keys.delete(stream);
    return redactor.text(open);
  };
  const release = (path: string): void => {
    const waiting = held.get(path);
    if (!waiting) return;
    held.delete(path);
    for (const [key, delta] of waiting) live(path, { ...delta, text: clean(`${path} ${key}`, delta.text) });
  };
  return {
    emit: (path, fact) => {
      if (ENDS.has(fact.type)) {
        if (fact.type === "run.ended" || fact.type === "run.paused") for (const one of held.keys()) release(one);
        else release(path);
      }
      emit(path, redactor.deep(fact));
    },
    live: (path, delta) => {
      const waiting = held.get(path) ?? new Map<string, Delta>();
      const key = delta.type === "tool.delta" ? `tool ${delta.call}` : delta.type;
      const before = waiting.get(key);
      const text = before ? before.text + delta.text : delta.text;
      const stream = `${path} ${key}`;
      const [shown, rest] = divided(text, {
        cutBefore: redactor.cutBefore,
        clean: (part) => clean(stream, part),
        inKey: () => keys.get(stream)?.isOpen === true,
      });
      if (rest !== "") {
        waiting.set(key, { ...delta, text: rest });
        held.set(path, waiting);
      } else if (before) {
        waiting.delete(key);
      }
      if (shown !== "") live(path, { ...delta, text: shown });
    },
  };
}

const ENDS: ReadonlySet<Fact["type"]> = new Set([
  "turn.started",
  "turn.ended",
  "turn.restarted",
  "tool.ended",
  "node.retried",
  "node.ended",
  "run.ended",
  "run.paused",
]);

/** Maximum length of a secret, except a private key. */
const LONGEST_WORD = 8_000;
const LONGEST_KEY = 30_000;
/** Matches a name that is usually followed by a secret; text after it is held back until the line is complete. */
const NAME_OF_SECRET = /[Bb]earer\s|uthorization\W|[-_](?:[Kk]ey|KEY|[Tt]oken)\W{0,3}[:=]/;

type Dividing = Readonly<{
  cutBefore(text: string, cut: number): number;
  clean(part: string): string;
  /** True in the middle of a private key. */
  inKey(): boolean;
}>;

/**
 * Splits a text into the part to show now, without secrets, and the part that waits for more text. Of a very long word,
 * only a part of the maximum length of a secret waits. The text is redacted before it is split, since a secret can be
 * on both sides of the split.
 */
function divided(text: string, { cutBefore, clean, inKey }: Dividing): [shown: string, rest: string] {
  const words = safeLength(text);
  if (words < text.length || text.length - wordsEnd(text) <= LONGEST_WORD) {
    const before = cutBefore(text, words);
    const start = before < words ? wordsEnd(text.slice(0, before)) : words;
    const safe = text.length - start <= LONGEST_WORD ? start : words;
    return [safe > 0 ? clean(text.slice(0, safe)) : "", text.slice(safe)];
  }
  const whole = clean(text);
  const cut = inKey() ? whole.length : whole.length - LONGEST_WORD;
  if (cut <= 0) return ["", whole];
  const at = isLowSurrogate(whole.charCodeAt(cut)) ? cut - 1 : cut;
  return [whole.slice(0, at), whole.slice(at)];
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** The index at which the last word of a text begins. */
function wordsEnd(text: string): number {
  let end = text.length;
  while (end > 0 && !isSpace(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

/** How much of a text can be shown now: whole words, up to the place where a secret may have begun. */
function safeLength(text: string): number {
  let end = wordsEnd(text);
  if (text.length - end > LONGEST_WORD) end = text.length;
  const data = wrappedDataBefore(text, end);
  if (text.length - data <= LONGEST_WORD) end = data;
  const key = unfinishedKey(text, end);
  if (key >= 0 && text.length - key < LONGEST_KEY) return Math.min(end, key);
  const line = text.lastIndexOf("\n") + 1;
  const name = text.length - line < LONGEST_WORD ? text.slice(line).search(NAME_OF_SECRET) : -1;
  return name < 0 ? end : Math.min(end, line + name);
}

const isSpace = (unit: number): boolean => unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
