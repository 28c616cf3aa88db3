/**
 * Text from a model, a tool, a file or a branch name, made safe to print: every terminal sequence and every control
 * character except newline and tab is removed.
 * A string sequence (title, clipboard, hyperlink, image) that is never closed ends with its line, so that it cannot
 * hide the text after it. No start of a sequence remains, so the rest cannot form a new sequence.
 */
export function sanitize(text: string): string {
  return text.replace(SEQUENCE, "");
}

/** True for a text of which a reader sees nothing: blanks, control characters, characters without width. */
export function showsNothing(text: string): boolean {
  return !SEEN.test(sanitize(text));
}

/** Any character but blanks, format and control characters, and the fillers that are drawn as blanks. */
const SEEN = /[^\s\p{Cc}\p{Cf}\u115f\u1160\u2800\u3164\uffa0]/u;

/**
 * The same text with control characters shown as symbols instead of removed, for places where nothing may be hidden.
 */
export function reveal(text: string): string {
  return text.replace(CONTROL, symbolOf);
}

/** Characters, except newline and tab, that a terminal acts on or that reorders what is shown. */
const CONTROLS = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";
const CONTROL = new RegExp(`[${CONTROLS}]`, "g");

/**
 * Matches terminal sequences. In no alternative is a part required after a repetition, so matching takes linear time.
 */
const SEQUENCE = new RegExp(
  [
    // terminal sequences with a text: OSC, DCS, SOS, PM, APC
    "(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^\\x07\\x18\\x1a\\x1b\\x9c\\n]*(?:\\x07|\\x18|\\x1a|\\x9c|\\x1b\\\\)?",
    // CSI sequences, such as colours and cursor movements
    "(?:\\x1b\\[|\\x9b)[\\x30-\\x3f]*[\\x20-\\x2f]*[\\x40-\\x7e]?",
    // any other terminal escape sequence
    "\\x1b[\\x20-\\x2f]*[\\x30-\\x7e]?",
    `[${CONTROLS}]`,
  ].join("|"),
  "g",
);

function symbolOf(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}
