/** One key, or a pasted text. `text` is the text that a key types. */
export type Key = Readonly<{ name: string; ctrl?: true; alt?: true; shift?: true; text?: string }>;

/** Decodes keys from the bytes of a terminal. */
export type KeyDecoder = Readonly<{
  /** Adds input and returns the complete keys. */
  push(chunk: string): Key[];
  /** True while a sequence is incomplete. If nothing follows, it was the Escape key. */
  pending(): boolean;
  /** Stops waiting for the rest of a sequence and returns its keys. */
  flush(): Key[];
}>;

/** Decodes the sequences of xterm and its relatives, bracketed paste and the newer `CSI u` form. */
export function createKeyDecoder(): KeyDecoder {
  let rest = "";
  const read = (final: boolean): Key[] => {
    const keys: Key[] = [];
    while (rest !== "") {
      const next = nextKey(rest, final);
      if (!next) break;
      rest = rest.slice(next.length);
      if (next.key) keys.push(next.key);
    }
    return keys;
  };
  return {
    push: (chunk) => {
      rest += chunk;
      return read(false);
    },
    pending: () => rest !== "" && !rest.startsWith(PASTE_START),
    flush: () => read(true),
  };
}

type Next = Readonly<{ length: number; key?: Key }>;

const ESC = "\u001b";
const PASTE_START = `${ESC}[200~`;
const PASTE_END = `${ESC}[201~`;

/** The first key of the text; `undefined` while the text is incomplete. */
function nextKey(text: string, final: boolean): Next | undefined {
  if (text.startsWith(PASTE_START)) {
    const end = text.indexOf(PASTE_END);
    if (end < 0) return final ? { length: text.length, key: pasted(text.slice(PASTE_START.length)) } : undefined;
    return { length: end + PASTE_END.length, key: pasted(text.slice(PASTE_START.length, end)) };
  }
  if (text[0] !== ESC) {
    const char = String.fromCodePoint(text.codePointAt(0)!);
    return { length: char.length, key: plainKey(char) };
  }
  const [sequence, numbers = "", end = ""] = CSI.exec(text) ?? SS3.exec(text) ?? [];
  if (sequence !== undefined) {
    const key = sequenceKey(numbers, end);
    return { length: sequence.length, ...(key && { key }) };
  }
  if (text === ESC || OPEN.test(text)) return final ? { length: 1, key: { name: "escape" } } : undefined;
  if (text[1] === ESC) return { length: 1, key: { name: "escape" } };
  const char = String.fromCodePoint(text.codePointAt(1)!);
  return { length: 1 + char.length, key: { ...plainKey(char), alt: true } };
}

const CSI = /^\u001b\[([0-9;:?<>=]*)([ -/]*[@-~])/;
const SS3 = /^\u001bO([0-9;]*)([A-Za-z])/;
const OPEN = /^\u001b(?:\[[0-9;:?<>=]*[ -/]*|O[0-9;]*)$/;

const pasted = (text: string): Key => ({ name: "paste", text: text.replace(/\r\n?/g, "\n") });

const controls: Readonly<Record<string, Key>> = {
  "\r": { name: "enter" },
  "\n": { name: "j", ctrl: true },
  "\t": { name: "tab" },
  "\u007f": { name: "backspace" },
  "\u0000": { name: "space", ctrl: true },
};

function plainKey(char: string): Key {
  const known = controls[char];
  if (known) return known;
  const code = char.codePointAt(0)!;
  if (code < 0x1b) return { name: String.fromCharCode(code + 0x60), ctrl: true };
  if (code < 0x20) return { name: String.fromCharCode(code + 0x40), ctrl: true };
  return { name: char, text: char };
}

const letters: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  Z: "tab",
};
const numbered: Readonly<Record<string, string>> = {
  "1": "home",
  "3": "delete",
  "4": "end",
  "5": "pageup",
  "6": "pagedown",
  "7": "home",
  "8": "end",
};
/** Decodes keys in the `CSI u` form. */
const coded: Readonly<Record<number, string>> = { 9: "tab", 13: "enter", 27: "escape", 127: "backspace" };

function sequenceKey(numbers: string, end: string): Key | undefined {
  const [first = "", second = ""] = numbers.split(";");
  const name = end === "~" ? numbered[first] : end === "u" ? codedName(Number(first)) : letters[end];
  if (name === undefined) return undefined; // focus events, mouse events and function keys are ignored
  const held = (Number.parseInt(second, 10) || 1) - 1;
  const text = end === "u" && name.length === 1 && (held & 6) === 0 ? { text: name } : {};
  return {
    name,
    ...text,
    ...((held & 1 || end === "Z") && { shift: true as const }),
    ...(held & 2 && { alt: true as const }),
    ...(held & 4 && { ctrl: true as const }),
  };
}

const codedName = (code: number): string | undefined =>
  coded[code] ?? (code > 0x20 && code < 0x110000 ? String.fromCodePoint(code) : undefined);
