import { textMatches } from "../rules/glob.ts";
import { programName } from "../shell/program-name.ts";

/**
 * Whether the words of a rule occur anywhere in a command line, in their order: in quotes, variables, arguments, input
 * or comments. A word is compared as a whole: `npm`, `rm.txt` and `--rm` do not mention `rm`, and `/bin/rm` does. The
 * words have to stand together inside or outside of a quoted text: `git commit -m 'to push'` does not mention `git push`.
 */
export function mentions([program = "", ...words]: readonly string[], line: string): boolean {
  const wanted = [nameOf(program), ...words.flatMap((word) => tokensIn(word, IN_RULES))];
  const isIn = (text: string): boolean => {
    let at = 0;
    for (const token of tokensIn(text, IN_LINES))
      if (at < wanted.length && textMatches(wanted[at]!, at === 0 ? nameOf(token) : token)) at++;
    return at === wanted.length;
  };
  const quoted = line.match(QUOTED)?.filter(hasWords) ?? [];
  const outside = line.replace(QUOTED, (text) => (hasWords(text) ? " " : text));
  // Quotes may stand between words, and inside of a word to hide it.
  return [outside, ...quoted].some((text) => isIn(text.replace(/\\[nrt]/g, " ")) || isIn(text.replace(/["'\\]/g, "")));
}

const hasWords = (quoted: string): boolean => /^["'][^]*\s/.test(quoted);
/** Matches a quoted text, and an escaped character outside of quotes. */
const QUOTED = /\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*"/g;

const IN_RULES = /[\s"'`;|&<>(){}$!,=:@%^~+#\\]+/;
const IN_LINES = /[\s"'`;|&<>(){}$!,=:@%^~+#\\*?[\]]+/;

const tokensIn = (text: string, separators: RegExp): string[] =>
  text.split(separators).flatMap((token) => token.replace(/(?<=\w)\.+$/, "") || []);

const nameOf = (program: string): string => programName(program).toLowerCase();
