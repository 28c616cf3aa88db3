/**
 * The characters of names in any script, for the `u` flag: letters, marks and digits. A mark is a part of its letter,
 * so no name begins with one.
 */
export const LETTER = String.raw`\p{L}\p{N}`;
export const LETTER_OR_MARK = String.raw`\p{L}\p{M}\p{N}`;

/**
 * A pattern for names of these characters, with spaces only inside. `most`: the maximum number of characters (not
 * bytes).
 */
export function namePattern(first: string, rest: string, most: number, not = ""): RegExp {
  return new RegExp(`^${not}[${first}](?:[${rest} ]{0,${most - 2}}[${rest}])?$`, "u");
}

/** Scripts that may be mixed in one word, because their letters do not look alike. */
const TOGETHER = ["Latin", "Han", "Hiragana", "Katakana", "Hangul", "Bopomofo"] as const;
const ALONE = [
  "Cyrillic",
  "Greek",
  "Armenian",
  "Hebrew",
  "Arabic",
  "Devanagari",
  "Thai",
  "Georgian",
  "Cherokee",
] as const;
const scripts = [...TOGETHER, ...ALONE].map((script) => ({ script, has: new RegExp(`\\p{Script=${script}}`, "u") }));

/** The first word of a name that mixes scripts whose letters look alike, as a Cyrillic `а` among Latin letters. */
export function mixedWord(name: string): string | undefined {
  if (!/[^ -~]/.test(name)) return undefined; // most names are ASCII, and the search by script is slow
  return name.split(/[^\p{L}\p{M}]+/u).find((word) => {
    const found = scripts.filter(({ has }) => has.test(word)).map(({ script }) => script);
    return found.length > 1 && !found.every((script) => TOGETHER.some((each) => each === script));
  });
}

/** Letters of other scripts, each followed by the Latin letter that it looks like. */
const PAIRS = [
  // Cyrillic
  "аaвbсcԁdеeҽeғfԍgһhнhіiїiјjкkӏlмmпnоoрpԛqгrѕsтtцuѵvԝwхxуyүy",
  "АAВBСCЕEԌGНHІIЈJКKМMОOРPԚQЅSТTѴVԜWХXУYҮY",
  // Greek
  "αaβbϲcεeηnιiϳjκkνvοoρpτtυuωwχxγyζz",
  "ΑAΒBΕEΖZΗHΙIͿJΚKΜMΝNΟOΡPΤTΥYΧXϹC",
  // Armenian
  "օoսuհhոnցgզqաwյj",
  // Latin letters of other forms
  "ıiɑaɡgɩiʋvƖl",
].join("");

const looks = new Map(Array.from(PAIRS.matchAll(/(.)(.)/gu), ([, letter, like]) => [letter, like]));

/** The Latin letters that a name looks like, in lower case; names that look alike have the same. */
export function latinLook(name: string): string {
  if (!/[^ -~]/.test(name)) return name.toLowerCase();
  return Array.from(name.normalize("NFKC"), (letter) => looks.get(letter) ?? letter)
    .join("")
    .toLowerCase();
}

/** The names with letters of another script that look like another of these names, each with that name. */
export function lookAlikesIn(names: ReadonlySet<string>): ReadonlyMap<string, string> {
  const foreign = [...names].filter((name) => latinLook(name) !== name.toLowerCase());
  if (foreign.length === 0) return new Map();
  const byLook = new Map<string, string[]>();
  for (const name of names) byLook.set(latinLook(name), [...(byLook.get(latinLook(name)) ?? []), name].slice(0, 2));
  return new Map(
    foreign.flatMap((name) => {
      const like = byLook.get(latinLook(name))?.find((other) => other !== name);
      return like === undefined ? [] : [[name, like]];
    }),
  );
}

/** The known name that this name looks like, although it is written with letters of another script. */
export function lookAlikeOf(name: string, known: Iterable<string>): string | undefined {
  const look = latinLook(name);
  if (look === name.toLowerCase()) return undefined;
  for (const other of known) if (other !== name && latinLook(other) === look) return other;
  return undefined;
}
