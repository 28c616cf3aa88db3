import { join } from "node:path";
import { readRegularTextSync } from "../disk/regular-file.ts";

/**
 * The paths of further object folders that an object folder names, as git reads them: one per line, or in quotation
 * marks with escapes. `undefined`: the list is too long, or is not a file.
 */
export function alternatesOf(store: string): string[] | undefined {
  let text: string;
  try {
    text = readRegularTextSync(join(store, "info/alternates"), MOST_BYTES);
  } catch (error) {
    // Most repositories have no such file, and one that may not be read is closed to git, too.
    const { code = "" } = error as NodeJS.ErrnoException;
    return ["ENOENT", "ENOTDIR", "EACCES"].includes(code) ? [] : undefined;
  }
  return pathsIn(text.split("\0", 1)[0]!);
}

const MOST_BYTES = 100_000;

/** A quoted path ends at its quotation mark, and may contain line ends; git skips the character after it. */
const QUOTED = /"((?:[^"\\]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*)"/y;

function pathsIn(text: string): string[] {
  const paths: string[] = [];
  for (let at = 0; at < text.length; ) {
    QUOTED.lastIndex = at;
    const [whole, quoted] = QUOTED.exec(text) ?? [];
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    if (quoted !== undefined) paths.push(unescaped(quoted));
    else if (!text.startsWith("#", at)) paths.push(text.slice(at, end));
    at = (whole === undefined ? end : at + whole.length) + 1;
  }
  return paths.filter((path) => path !== "");
}

/** A quoted path without its escapes. Octal numbers are bytes of UTF-8. */
function unescaped(quoted: string): string {
  const parts = quoted.split(/(\\(?:[0-7]{3}|.))/);
  return Buffer.concat(parts.map((part, at) => (at % 2 === 0 ? Buffer.from(part) : byteOf(part.slice(1))))).toString();
}

const byteOf = (code: string): Buffer =>
  code.length === 3 ? Buffer.from([Number.parseInt(code, 8)]) : Buffer.from(ESCAPES[code] ?? code);

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
