/** A text that was decoded, and the original position of each part. */
export type DecodedText = Readonly<{ text: string; origin(from: number, to: number): readonly [number, number] }>;

const TAIL = "%[89ABab][0-9A-Fa-f]";
const ESCAPE = new RegExp(
  [
    "%u[0-9A-Fa-f]{4}",
    "%[0-7][0-9A-Fa-f]",
    `%[CDcd][0-9A-Fa-f]${TAIL}`,
    `%[Ee][0-9A-Fa-f](?:${TAIL}){2}`,
    `%[Ff][0-7](?:${TAIL}){3}`,
    "\\\\u[0-9A-Fa-f]{4}",
    "\\\\u\\{0{0,20}[0-9A-Fa-f]{1,6}\\}",
    "\\\\U[0-9A-Fa-f]{8}",
    "\\\\x[0-9A-Fa-f]{2}",
    "\\\\x\\{0{0,20}[0-9A-Fa-f]{1,6}\\}",
    "\\\\[0-3]?[0-7]{2}",
    "\\\\[^\\w\\s]",
    "&#0{0,20}[0-9]{1,7};?",
    "&#[xX]0{0,20}[0-9A-Fa-f]{1,6};?",
    "&[A-Za-z]{2,8};",
  ].join("|"),
  "g",
);

/** Names of the ASCII characters in HTML. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  excl: "!",
  num: "#",
  dollar: "$",
  percnt: "%",
  lpar: "(",
  rpar: ")",
  ast: "*",
  midast: "*",
  plus: "+",
  comma: ",",
  period: ".",
  sol: "/",
  colon: ":",
  semi: ";",
  equals: "=",
  quest: "?",
  commat: "@",
  lsqb: "[",
  lbrack: "[",
  bsol: "\\",
  rsqb: "]",
  rbrack: "]",
  Hat: "^",
  lowbar: "_",
  UnderBar: "_",
  grave: "`",
  lcub: "{",
  lbrace: "{",
  verbar: "|",
  vert: "|",
  rcub: "}",
  rbrace: "}",
  hyphen: "-",
  dash: "-",
  Tab: "\t",
  NewLine: "\n",
};

/**
 * Resolves percent, `\\u`, `\\x`, octal and HTML escapes, in any mixture, once. `undefined`: the text has no escapes.
 */
export function unescaped(text: string): DecodedText | undefined {
  return /[%\\&]/.test(text) ? withMeanings(text, ESCAPE, meaning) : undefined;
}

/** Replaces every match for which `meaning` returns a text; `undefined`: there is no such match. */
export function withMeanings(
  text: string,
  pattern: RegExp,
  meaningOf: (found: string) => string | undefined,
): DecodedText | undefined {
  const parts: string[] = [];
  /** Where each match begins and ends, in the decoded text (`news`) and in the original text (`olds`). */
  const news: number[] = [];
  const olds: number[] = [];
  let length = 0;
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    const plain = meaningOf(found[0]);
    if (plain === undefined) continue;
    const before = text.slice(from, found.index);
    parts.push(before, plain);
    length += before.length;
    news.push(length, length + plain.length);
    from = found.index + found[0].length;
    olds.push(found.index, from);
    length += plain.length;
  }
  if (parts.length === 0) return undefined;
  parts.push(text.slice(from));
  const whole = (at: number, side: "start" | "end"): number => {
    const last = lastAtMost(news, side === "start" ? at : at - 1);
    if (last < 0) return at;
    // A position inside an escape maps to the whole escape.
    if (last % 2 === 0) return side === "start" ? olds[last]! : olds[last + 1]!;
    return olds[last]! + (at - news[last]!);
  };
  return { text: parts.join(""), origin: (start, end) => [whole(start, "start"), whole(end, "end")] };
}

/** Binary search: the last index whose value is not above the given value. */
function lastAtMost(values: readonly number[], most: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function meaning(escape: string): string | undefined {
  const code = (digits: string, base: number): string | undefined => {
    const point = Number.parseInt(digits, base);
    return point > 0x10ffff ? undefined : String.fromCodePoint(point);
  };
  if (escape.startsWith("%u")) return code(escape.slice(2), 16);
  if (escape.startsWith("%")) return percent(escape);
  if (escape.startsWith("&#")) {
    const digits = escape.slice(2).replace(";", "");
    return /^x/i.test(digits) ? code(digits.slice(1), 16) : code(digits, 10);
  }
  if (escape.startsWith("&")) return ENTITIES[escape.slice(1, -1)];
  if (/^\\[uUx]/.test(escape)) return code(escape.replace(/[\\uUx{}]/g, ""), 16);
  return /^\\[0-7]/.test(escape) ? code(escape.slice(1), 8) : escape.slice(1);
}

function percent(escape: string): string | undefined {
  try {
    return decodeURIComponent(escape);
  } catch {
    return undefined;
  }
}
