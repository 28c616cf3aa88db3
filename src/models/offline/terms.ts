import { COMMON_WORDS, STOP_WORDS, SYNONYMS } from "./words.ts";

/** A search term, and the expressions that find it. */
export type Term = Readonly<{
  /** The word as it is in the question. */
  name: string;
  /** The root that related words share; terms with the same root are merged. */
  root: string;
  /** Synonyms, which count a little less. */
  also: readonly string[];
  /** The weight of the term: a name from code counts more than a word. */
  weight: number;
  /** The pattern for the search tool; valid for both ripgrep and JavaScript. */
  pattern: string;
  exact: RegExp;
  either: RegExp;
}>;

/**
 * The search terms of a text, the most specific first: quoted words, names from code, then plain words without stop
 * words.
 */
export function termsOf(text: string, most = 8): Term[] {
  const found = new Map<string, Term>();
  const add = (term: Term): void => {
    const known = found.get(term.root);
    if (known === undefined || known.weight < term.weight) found.set(term.root, term);
  };
  let rest = text;
  for (const { expression, weight } of SPECIAL) {
    rest = rest.replace(expression, (_, inner: string) => {
      const name = inner.trim();
      if (name.length > 1 && !STOP_WORDS.has(name.toLowerCase())) add(nameTerm(name, weight));
      return isName(name)
        ? ` ${name.replace(/[^\p{L}\p{N}]+/gu, " ").replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")} `
        : " ";
    });
  }
  for (const [word] of rest.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (isTelling(word)) add(wordTerm(word));
  }
  const all = [...found.values()];
  const telling = all.filter(({ weight }) => weight >= 1);
  const rows = telling.length > 1 ? telling : all;
  return rows.sort((a, b) => b.weight - a.weight || all.indexOf(a) - all.indexOf(b)).slice(0, most);
}

/** The part of a word that its relatives begin with: running, runs -> run; execution, executor -> execut. */
export function stem(word: string): string {
  const plain = word.toLowerCase();
  for (const [ending, replacement, least] of ENDINGS) {
    const rest = plain.slice(0, -ending.length);
    if (plain.endsWith(ending) && rest.length >= least && /[aeiouy]/.test(rest)) return undoubled(rest) + replacement;
  }
  return plain;
}

const SPECIAL: readonly Readonly<{ expression: RegExp; weight: number }>[] = [
  { expression: /`([^`\n]{1,80})`/g, weight: 3 },
  { expression: /"([^"\n]{1,80})"/g, weight: 3 },
  { expression: /\u201c([^\u201d\n]{1,80})\u201d/g, weight: 3 },
  { expression: /(?<![\p{L}\p{N}])'([^'\n]{2,80})'(?![\p{L}\p{N}])/gu, weight: 3 },
  // matches names in camelCase, PascalCase, snake_case and CONSTANT_CASE
  { expression: /(?<![\p{L}\p{N}_])(\p{L}[\p{L}\p{N}]*(?:(?<=[\p{Ll}\p{N}])\p{Lu}|_)[\p{L}\p{N}_]*)/gu, weight: 2.5 },
];

const ENDINGS: readonly (readonly [ending: string, replacement: string, leastLeft: number])[] = [
  ["ications", "", 4],
  ["ication", "", 4],
  ["ations", "", 4],
  ["ation", "", 4],
  ["tions", "t", 4],
  ["tion", "t", 4],
  ["ies", "y", 2],
  ["sses", "ss", 2],
  ["ches", "ch", 2],
  ["shes", "sh", 2],
  ["xes", "x", 2],
  ["ings", "", 3],
  ["ing", "", 3],
  ["ied", "y", 2],
  ["ed", "", 3],
  ["us", "us", 2],
  ["ss", "ss", 2],
  ["is", "is", 2],
  ["es", "e", 3],
  ["s", "", 3],
];

/** Removes a doubled consonant before an ending: runn-ing, cancell-ed, but not call-ing. */
function undoubled(rest: string): string {
  return /([bdgmnprt])\1$/.test(rest) || /.{4}ll$/.test(rest) ? rest.slice(0, -1) : rest;
}

function isTelling(word: string): boolean {
  const plain = word.toLowerCase();
  if (STOP_WORDS.has(plain) || /^\p{N}+$/u.test(word)) return false;
  return plain.length > 2 || /^\p{Lu}{2}$/u.test(word);
}

const isName = (text: string): boolean => /^[\p{L}\p{N}_.$-]+$/u.test(text);

/** The term for a name from code. It is matched as written; ignoring case if it is all lower case. */
function nameTerm(name: string, weight: number): Term {
  const pattern = escaped(name);
  const expression = new RegExp(pattern, "i");
  const isPlain = name === name.toLowerCase();
  return {
    name,
    root: name,
    also: [],
    weight,
    pattern: isPlain ? `(?i)${pattern}` : pattern,
    exact: expression,
    either: expression,
  };
}

function wordTerm(word: string): Term {
  const root = stem(word);
  const row = SYNONYMS.find(([first]) => first !== undefined && stem(first) === root) ?? [];
  const also = row.slice(1, 4);
  const exact = wordPattern(root);
  const pattern = [exact, ...also.map((other) => wordPattern(stem(other)))].join("|");
  return {
    name: word.toLowerCase(),
    root,
    also,
    weight: COMMON_WORDS.has(word.toLowerCase()) ? 0.4 : 1,
    pattern,
    exact: new RegExp(exact),
    either: new RegExp(pattern),
  };
}

/**
 * The pattern for a word at the beginning of a word, also inside camelCase and snake_case. Short words match with few
 * endings only.
 */
function wordPattern(root: string): string {
  if (!/^\w+$/.test(root)) return escaped(root); // `\b` recognises only ASCII letters
  const base = root.length > 5 ? root.replace(/e$/, "") : root;
  const [lower, upper] = [escaped(base), escaped(base.toUpperCase())];
  const hump = escaped(base.charAt(0).toUpperCase() + base.slice(1));
  const end = base.length > 3 ? "" : `(?:${escaped(base.slice(-1))}?(?:s|ed|ing|ers?))?(?:\\b|_|[A-Z0-9])`;
  return `(?:\\b|_)(?:${lower}|${upper})${end}|${hump}${end}`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace(/\\([/-])/g, "$1");
}
