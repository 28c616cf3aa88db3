/**
 * Text from a model, a tool, a file or a branch name, made safe to print: every terminal sequence and every control
 * character except newline and tab is removed.
 * A string sequence (title, clipboard, hyperlink, image) that is never closed ends with its line, so that it cannot
 * hide the text after it. No start of a sequence remains, so the rest cannot form a new sequence.
 */
export function sanitize(text: string): string {
  return text.replace(SEQUENCE, "");
}

/**
 * Output of the program itself, without sequences that it does not use, which came from a text that was not made safe:
 * those that set the clipboard or make the terminal answer, for example. Styles, cursor movements and modes remain.
 */
export function withoutForeignSequences(text: string): string {
  return /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.test(text)
    ? text.replace(SEQUENCE, (sequence) => (OWN.test(sequence) ? sequence : ""))
    : text;
}

/** Matches what the screens write: styles, movements, erasing, modes, the title of the window, return and bell. */
const OWN =
  /^(?:\x1b\[[\d;?]*[ABCDGHJKhlm]|\x1b\[2[23];0t|\x1b\]2;(?:\d+ needs? you[^\x07]{1,5})?subcrew\x07|[\r\x07])$/;

/**
 * The text as a terminal shows it: without characters that a person cannot see, such as zero-width characters, tag
 * characters and variation selectors, and with at most eight marks on a letter. Joiners stay in emoji, and between
 * letters of the scripts that need them. For a text that has only common characters, one quick test is enough.
 */
export function withoutInvisible(text: string): string {
  if (!UNCOMMON.test(text)) return text;
  return withInvisible(text, (sign) => (/[\u2028\u2029]/.test(sign) ? " " : "")).replace(STACKED_MARKS, "$1");
}

/** The same text with the invisible characters that `withoutInvisible` removes written out, as in `<U+200B>`. */
export function spellInvisible(text: string): string {
  if (!UNCOMMON.test(text)) return text;
  return withInvisible(text, (sign) => `<U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`);
}

/** Replaces the invisible characters, except characters that are part of something visible. */
function withInvisible(text: string, shown: (sign: string) => string): string {
  neededJoiner ??= new RegExp(NEEDED, "uy");
  const needed = neededJoiner;
  return text.replace(INVISIBLE, (sign, flag: string | undefined, at: number) => {
    needed.lastIndex = at;
    return flag !== undefined || needed.test(text) ? sign : shown(sign);
  });
}

/**
 * Matches a character that may be invisible. It excludes letters of large alphabets, signs and emoji, and controls,
 * which count as visible.
 */
const UNCOMMON =
  // oxlint-disable-next-line no-misleading-character-class -- without the flag u, halves of pairs are meant
  /[^\x00-\x9f\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u0590\u2010-\u2027\u2030-\u205e\u2190-\u2bff\u3000-\u3029\u3041-\u3096\u309b-\u3130\u3400-\u9fff\uac00-\ud7a3\ud83c-\ud83e\udc00-\udfff]/;

/** Matches invisible characters, and as group 1 the flags of England, Scotland and Wales, which contain some. */
const INVISIBLE =
  // oxlint-disable-next-line no-misleading-character-class -- each of these characters is meant alone
  /(\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f})|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Scripts in which a joiner or a non-joiner between two letters changes how a word is written. */
const JOINING =
  "Arabic Syriac Mandaic Nko Mongolian Adlam Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Tibetan Balinese Javanese"
    .split(" ")
    .map((script) => `\\p{Script_Extensions=${script}}`)
    .join("");

/** Matches an invisible character that joins emoji or letters, selects the form of an emoji, or makes a keycap. */
const NEEDED = [
  "(?<=(?:\\p{Extended_Pictographic}|\\p{Emoji_Modifier})\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})",
  "(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]",
  "(?<=[0-9#*])\\ufe0f(?=\\u20e3)",
  `(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])`,
].join("|");
/** A regular expression that is created when the first text needs it, because its tables take milliseconds. */
let neededJoiner: RegExp | undefined;

const STACKED_MARKS = /(\p{M}[\p{M}\u200c\u200d]{7})[\p{M}\u200c\u200d]+/gu;

/** True for a text that shows nothing to a reader: blanks, control characters, characters without width. */
export function showsNothing(text: string): boolean {
  return !SEEN.test(sanitize(text));
}

/**
 * Matches any character that is visible: no blank, no format or control character, and no filler that is drawn as a
 * blank.
 */
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

/** Matches terminal sequences. No alternative requires a part after a repetition, so matching takes linear time. */
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
