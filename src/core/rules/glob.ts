/**
 * Whether a path matches a glob. A pattern without a slash is matched against the last name, at any depth; any other
 * pattern against the whole path. `*` and `?` stay inside a name, `**` spans folders, `[a-z]` and `{one,two}` work as
 * in a shell. Names that begin with a dot are not special.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  const patterns = alternatives(pattern.replace(/^(?:\.\/)+/, "")).map((text) => ({
    byName: !text.includes("/"),
    steps: parsePattern(text.replace(/^\//, "")),
  }));
  return (path) => {
    const names = path.split("/");
    return patterns.some(({ byName, steps }) => matchesPath(steps, byName ? names.slice(-1) : names));
  };
}

/** Whether a text, or one name of a path, matches a pattern in which `*` stands for any characters. */
export function textMatches(pattern: string, text: string): boolean {
  return matchesName(tokensOf(pattern), text);
}

/** A pattern split at its slashes; `**` stands for any number of names. */
export type PathPattern = readonly (typeof SPAN | NamePattern)[];
export type NamePattern = readonly Token[];

/** Splits a pattern at its slashes; braces have no special meaning in it. */
export function parsePattern(pattern: string): PathPattern {
  return pattern
    .split("/")
    .filter((name, at) => name !== "" || at === 0)
    .map((name) => (name === "**" ? SPAN : tokensOf(name)));
}

/**
 * Matches in time proportional to pattern times path: only the latest `**` or `*` is ever tried again, which is enough.
 * A regular expression would need exponential time for patterns that a stranger can put into a `.gitignore`.
 * A final `**` stands for at least one name.
 */
export function matchesPath(pattern: PathPattern, names: readonly string[]): boolean {
  let at = 0;
  let name = 0;
  let span = -1;
  let spanned = 0;
  while (name < names.length) {
    const step = pattern[at];
    if (step === SPAN) {
      if (at === pattern.length - 1) return true;
      span = at++;
      spanned = name;
    } else if (step !== undefined && matchesName(step, names[name] ?? "")) {
      at++;
      name++;
    } else if (span >= 0) {
      at = span + 1;
      name = ++spanned;
    } else return false;
  }
  return at === pattern.length;
}

const SPAN = "**";
const STAR = "*";
const ANY = "?";

/** One element of a name pattern: a single character, a class as a list of ranges, or a wildcard. */
type Token =
  | typeof STAR
  | typeof ANY
  | Readonly<{ exact: string }>
  | Readonly<{ ranges: readonly Range[]; not: boolean }>;
type Range = readonly [low: string, high: string];

function matchesName(tokens: NamePattern, name: string): boolean {
  let at = 0;
  let char = 0;
  let star = -1;
  let starred = 0;
  while (char < name.length) {
    const token = tokens[at];
    if (token === STAR) {
      star = at++;
      starred = char;
    } else if (token !== undefined && fits(token, name.charAt(char))) {
      at++;
      char++;
    } else if (star >= 0) {
      at = star + 1;
      char = ++starred;
    } else return false;
  }
  while (tokens[at] === STAR) at++;
  return at === tokens.length;
}

/** Whether one element of a name pattern matches a character. */
export function fits(token: Exclude<Token, typeof STAR>, char: string): boolean {
  if (token === ANY) return true;
  if ("exact" in token) return token.exact === char;
  return token.ranges.some(([low, high]) => low <= char && char <= high) !== token.not;
}

function tokensOf(name: string): NamePattern {
  const tokens: Token[] = [];
  for (let at = 0; at < name.length; at++) {
    const char = name.charAt(at);
    if (char === "*") {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
    } else if (char === "?") tokens.push(ANY);
    else if (char === "\\" && at + 1 < name.length) tokens.push({ exact: name.charAt(++at) });
    else {
      const end = char === "[" ? classEnd(name, at) : -1;
      tokens.push(end < 0 ? { exact: char } : classOf(name.slice(at + 1, end)));
      if (end >= 0) at = end;
    }
  }
  return tokens;
}

/**
 * The index of the bracket that closes the class opened at `start`. A closing bracket directly after the opening
 * bracket is a member of the class.
 */
function classEnd(name: string, start: number): number {
  let at = start + 1;
  if (name.charAt(at) === "!" || name.charAt(at) === "^") at++;
  const first = at;
  for (; at < name.length; at++) {
    if (name.charAt(at) === "\\") at++;
    else if (name.charAt(at) === "]" && at > first) return at;
  }
  return -1;
}

function classOf(inside: string): Token {
  const not = /^[!^]/.test(inside);
  const chars = Array.from(inside.slice(not ? 1 : 0).matchAll(/\\([\s\S])|([\s\S])/g), ([, escaped, plain]) => ({
    char: escaped ?? plain ?? "",
    dash: plain === "-",
  }));
  const ranges: Range[] = [];
  for (let at = 0; at < chars.length; at++) {
    const low = chars[at]?.char ?? "";
    const high = chars[at + 2];
    if (chars[at + 1]?.dash && high !== undefined) {
      ranges.push([low, high.char]);
      at += 2;
    } else ranges.push([low, low]);
  }
  return { ranges, not };
}

const MOST_ALTERNATIVES = 256;

/** All brace alternatives; throws when there are too many. */
export function alternatives(pattern: string): string[] {
  const found: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    const text = open.pop() ?? "";
    const braces = firstBraces(text);
    if (braces === undefined) found.push(text);
    else open.push(...braces.parts.map((part) => text.slice(0, braces.start) + part + text.slice(braces.end + 1)));
    if (found.length + open.length > MOST_ALTERNATIVES) {
      throw new Error(`the pattern has more than ${MOST_ALTERNATIVES} alternatives in braces: use several calls`);
    }
  }
  return found.reverse();
}

type Braces = Readonly<{ start: number; end: number; parts: readonly string[] }>;

/** The first `{...}` that has a comma outside of nested braces, and the alternatives between its commas. */
function firstBraces(text: string): Braces | undefined {
  for (let start = text.indexOf("{"); start >= 0; start = text.indexOf("{", start + 1)) {
    const cuts = [start];
    let depth = 0;
    for (let at = start; at < text.length; at++) {
      const char = text.charAt(at);
      if (char === "\\") at++;
      else if (char === "{") depth++;
      else if (char === "," && depth === 1) cuts.push(at);
      else if (char === "}" && --depth === 0) {
        if (cuts.length === 1) break;
        return { start, end: at, parts: cuts.map((cut, n) => text.slice(cut + 1, cuts[n + 1] ?? at)) };
      }
    }
  }
  return undefined;
}
