import fc from "fast-check";

/** The number of tries of a property, and its seed; without a seed it is random. */
export type Tries = Readonly<{
  numRuns: number;
  seed?: number;
  /** The soak ends after this time, however many tries are left. */
  interruptAfterTimeLimit?: number;
}>;

/** Texts that are difficult for parsers. */
const TOKENS = [
  ...[
    "---\n",
    "---",
    "...",
    ": ",
    ":",
    " #",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "  ",
    "- ",
    "-",
    "|",
    ">",
    "&a ",
    "*a",
    "<<: *a",
  ],
  ...[
    "!!js/function x",
    "!!binary x",
    "? ",
    "{",
    "}",
    "[",
    "]",
    "{}",
    "[]",
    ",",
    "'",
    '"',
    "\\",
    "`",
    "=",
    "[[x]]",
    "[x]",
  ],
  ...[
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "null",
    "~",
    "true",
    "no",
    "0x10",
    "1e999",
    "-0",
    ".inf",
    ".nan",
  ],
  ...[
    "2026-11-16",
    "\0",
    "\ufeff",
    "\u2028",
    "\ud800",
    "\u0085",
    "é",
    "😀",
    "tools",
    "tools:",
    "name",
    "name:",
    "*",
    "a".repeat(300),
  ],
  ...[
    "\x1b[31m",
    "${x}",
    "{x}",
    "$ARGUMENTS",
    "{{",
    "description: a: b",
    "tools: *",
    "model: [",
    "/*",
    "//",
    "\n\n",
    "%YAML 1.1\n",
  ],
];

type Edit = Readonly<{ at: number; cut: number; put: string; copy: number }>;

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(10_000),
  cut: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(40)),
  put: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...TOKENS) }, fc.string({ unit: "binary", maxLength: 12 })),
  copy: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.nat(200)),
});

/** Valid texts with pieces cut out, copied, or inserted. */
export function mutated(samples: readonly string[], most = 6): fc.Arbitrary<string> {
  const wild = fc.array(fc.constantFrom(...TOKENS), { maxLength: 40 }).map((parts) => parts.join(""));
  const bent = fc
    .tuple(fc.constantFrom(...samples), fc.array(edit, { maxLength: most }))
    .map(([text, edits]) => edits.reduce(applied, text));
  return fc.oneof({ weight: 9, arbitrary: bent }, wild);
}

function applied(text: string, { at, cut, put, copy }: Edit): string {
  const from = text.length === 0 ? 0 : at % (text.length + 1);
  const again = text.slice(from, from + copy);
  return text.slice(0, from) + put + again + text.slice(from + cut);
}

/** Cuts a text into pieces at these positions. */
export function inPieces(cuts: readonly number[], text: string): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length));
}

/** The positions at which a text is cut. */
export const cuts = fc.array(fc.nat(100_000), { maxLength: 12 });
