import { textMatches } from "../rules/glob.ts";
import { programName } from "../shell/program-name.ts";

/**
 * Whether the words of a rule occur anywhere in a command line, in their order: in quotes, variables, arguments, input
 * or comments. A word is compared as a whole: `npm`, `rm.txt` and `--rm` do not mention `rm`, and `/bin/rm` does.
 */
export function mentions([program = "", ...words]: readonly string[], line: string): boolean {
  const wanted = [nameOf(program), ...words.flatMap((word) => tokensIn(word, IN_RULES))];
  // Quotes may stand between words, and inside of a word to hide it.
  return [line.replace(/\\[nrt]/g, " "), line.replace(/["'\\]/g, "")].some((text) => {
    let at = 0;
    for (const token of tokensIn(text, IN_LINES))
      if (at < wanted.length && textMatches(wanted[at]!, at === 0 ? nameOf(token) : token)) at++;
    return at === wanted.length;
  });
}

const IN_RULES = /[\s"'`;|&<>(){}$!,=:@%^~+#\\]+/;
const IN_LINES = /[\s"'`;|&<>(){}$!,=:@%^~+#\\*?[\]]+/;

const tokensIn = (text: string, separators: RegExp): string[] =>
  text.split(separators).flatMap((token) => token.replace(/(?<=\w)\.+$/, "") || []);

const nameOf = (program: string): string => programName(program).toLowerCase();
