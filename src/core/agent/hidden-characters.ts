import { type Problem, problem } from "../vocabulary/file-problem.ts";

/**
 * Text that a person does not see and a model reads: bidirectional controls, zero-width and tag characters, soft
 * hyphens, variation selectors, escapes, and a carriage return that ends no line.
 */
const HIDDEN =
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\uffa0\u2800\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]|\u034f|\u17b4|\u17b5|\ufe0f|[\ufe00-\ufe0e]|[\u180b-\u180d\u180f]|[\u{e0000}-\u{e0fff}\u{1d173}-\u{1d17a}]/gu;

/** Joiners in emoji sequences and regional flags are part of a visible character. */
const JOINED = new RegExp(
  "\\u{1f3f4}[\\u{e0020}-\\u{e007f}]+|[0-9#*]\\ufe0f|\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?(?:\\u200d\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?)*",
  "gu",
);

/** The same text with every hidden character written out, as in `<U+202E>`. */
export function showHidden(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(HIDDEN, (sign) => `<U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`);
}

/** The same in one line: line ends and tabs are written out, too. */
export function showHiddenInLine(text: string): string {
  return showHidden(text).replace(
    /[\n\t\u2028\u2029]/g,
    (sign) => `<U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}

/** A warning that names the first hidden character and its place, or nothing. */
export function hiddenCharacters(text: string): Problem | undefined {
  const body = text.charCodeAt(0) === 0xfeff ? ` ${text.slice(1)}` : text;
  if (body.search(HIDDEN) === -1) return undefined;
  const visible = body.replace(JOINED, (sign) => " ".repeat(sign.length));
  let first: RegExpExecArray | undefined;
  let count = 0;
  for (const found of visible.matchAll(HIDDEN)) {
    first ??= found;
    if (++count > COUNTED) break;
  }
  if (first === undefined) return undefined;
  const before = visible.slice(0, first.index).split("\n");
  const code = first[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  const many = count > COUNTED ? `more than ${COUNTED}` : String(count);
  const message = `The file holds ${many} hidden character${count === 1 ? "" : "s"}; the first is U+${code}, column ${before.at(-1)!.length + 1}.`;
  return problem("hidden-characters", message, {
    line: before.length,
    hint: "Look at the file with an editor that shows hidden characters.",
  });
}

/** The maximum number of hidden characters that are counted. */
const COUNTED = 1000;
