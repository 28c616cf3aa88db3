/** A bracket expression of a pattern, as in `[^]/[:alpha:]]`. */
const BRACKETS = /^\[\^?\]?(?:\[:[a-z]*:\]|\[\.[^\n]*?\.\]|\[=[^\n]*?=\]|[^\]\n])*\]/;

/**
 * Whether a sed script writes no file and runs nothing: addresses, and commands that print, delete, jump or substitute.
 * Every command of the script that is not known to be harmless counts as harmful. The script is read once, from left to
 * right.
 */
export function sedReads(script: string): boolean {
  let at = 0;
  const text = script;
  const skip = (pattern: RegExp): boolean => {
    const sticky = new RegExp(pattern.source, "y");
    sticky.lastIndex = at;
    if (!sticky.test(text)) return false;
    at = sticky.lastIndex;
    return true;
  };
  /**
   * Skips a delimited part of a sed command, honouring backslashes and, in a pattern, brackets. False: the part has no
   * end, or its end is uncertain.
   */
  const part = (delimiter: string, isPattern: boolean): boolean => {
    for (; at < text.length; at++) {
      const char = text.charAt(at);
      if (char === "\\") at++;
      else if (char === "[" && isPattern) {
        const [brackets = "\\"] = BRACKETS.exec(text.slice(at)) ?? [];
        // A delimiter in brackets ends the pattern for some versions of sed, but not for other versions.
        if (brackets.includes(delimiter) || /\\[\]\\]?$/.test(brackets)) return false;
        at += brackets.length - 1;
      } else if (char === delimiter) {
        at++;
        return true;
      } else if (char === "\n") return false;
    }
    return false;
  };
  const address = (): boolean => {
    if (skip(/\d+(?:~\d+)?|\$/)) return true;
    const delimiter = text.charAt(at) === "\\" ? text.charAt(at + 1) : text.charAt(at) === "/" ? "/" : undefined;
    if (delimiter === undefined || /[\s\\]/.test(delimiter)) return false;
    at += text.charAt(at) === "\\" ? 2 : 1;
    if (!part(delimiter, true)) return false;
    skip(/[IM]*/);
    return true;
  };
  while (at < text.length) {
    if (skip(/[\s;{}]+/)) continue;
    if (skip(/#[^\n]*/)) continue;
    if (address()) {
      skip(/\s*/);
      if (skip(/,\s*/) && !skip(/[+~]\d+/) && !address()) return false;
      skip(/\s*!*\s*/);
    }
    const command = text.charAt(at++);
    if (/[pPdDnNhHgGxlFz={]/.test(command)) continue;
    if (command === "q" || command === "Q") {
      skip(/\s*\d*/);
      continue;
    }
    if (command === ":" || command === "b" || command === "t" || command === "T") {
      if (!skip(/[ \t]*[\w.-]*/)) return false;
      continue;
    }
    if (command === "a" || command === "i" || command === "c") {
      if (!skip(/[ \t]*\\?[^\n\\]*/)) return false;
      continue;
    }
    if (command !== "s" && command !== "y") return false;
    const delimiter = text.charAt(at++);
    if (delimiter === "" || /[\s\\]/.test(delimiter) || !part(delimiter, command === "s") || !part(delimiter, false))
      return false;
    skip(command === "s" ? /[gpiIM\d]*/ : /(?:)/);
    if (at < text.length && !/[\s;}#]/.test(text.charAt(at))) return false;
  }
  return true;
}

/**
 * Whether an awk program writes no file and runs nothing. `>` counts as writing, although it may be a comparison. The
 * text in strings does not count, unless it is uncertain where strings begin: a quote in a pattern (`/"/`) or in a
 * comment does not begin a string.
 */
export function awkReads(script: string): boolean {
  if (script.length > LONGEST_PROGRAM) return false;
  const outside = script.replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
  const code = /[/#\\]/.test(outside) || outside.replaceAll('""', "").includes('"') ? script : outside;
  return !/system|getline|close|fflush|@|\||>|extension|ENVIRON|PROCINFO|ARGV|SYMTAB/.test(code.replaceAll("||", ""));
}

/**
 * The maximum length of an analysed awk program: for a program with open quotes the time grows with the square of the
 * length.
 */
const LONGEST_PROGRAM = 5_000;
