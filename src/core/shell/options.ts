import type { ShellWord } from "./parse.ts";

/**
 * The options of a program that only read, and the meaning of the words after them. Long options end with `=` when they
 * take a value.
 */
export type Grammar = Readonly<{
  flags?: string;
  /** Option letters that take a value. */
  valued?: string;
  long?: string;
  /** True: an option that consists of digits, such as `-20`, is a number for the program. */
  number?: true;
  /** True: letters after a letter that takes a value are further options, or are ignored, as with `tree -Lo 1 file`. */
  loneValues?: true;
  /**
   * The meaning of the words after the options; `pattern`: one text, then paths; `script`: a sed or awk program, then
   * paths.
   */
  operands?: "paths" | "texts" | "pattern" | "script";
  /** Maximum number of operands that are only read; further operands are written to or created. */
  most?: number;
  /** True: the arguments of the command have no effect, as with `echo`. */
  harmless?: true;
  /** Matches operands with side effects. */
  badOperand?: RegExp;
  /** Matches any word with side effects: an operand, an option or its value. */
  badWord?: RegExp;
  /** Whether a script for the program, such as an awk program, only reads. */
  isReading?(script: string): boolean;
}>;

/** The arguments of a program, classified by the program's grammar. */
export type SortedArguments = Readonly<{
  names: ReadonlySet<string>;
  /** The last value of each option that takes a value. */
  values: ReadonlyMap<string, string>;
  /** Indexes of words that are not known to be read-only. */
  effects: readonly number[];
  operands: readonly number[];
  /** The paths that are read, where all of them are known. */
  paths: readonly string[];
}>;

/** The classified arguments of a program without options. */
export const NO_OPTIONS = { names: new Set<string>(), values: new Map<string, string>() } as const;

/** Classifies the arguments of a program. A word that is only known at run time counts as a possible option. */
export function readOptions(grammar: Grammar, args: readonly ShellWord[]): SortedArguments {
  const { flags = "", valued = "", long = "", number, operands: kind = "paths" } = grammar;
  const longs = new Set(long.split(" "));
  const names = new Set<string>();
  const values = new Map<string, string>();
  const effects: number[] = [];
  const operands: number[] = [];
  const scripts: number[] = [];
  /** Takes the next word as the value of an option, and returns its index. */
  const takeValue = (name: string, at: number): number => {
    const value = args[at + 1];
    if (value === undefined) return at + 1;
    values.set(name, value.text ?? "");
    const isPattern = kind === "pattern" && (name === "e" || name === "regexp");
    if (!isOneValue(value) && !(isPattern && value.text !== undefined && !value.glob)) effects.push(at + 1);
    return at + 1;
  };
  const letters = (word: string, at: number): number => {
    const isBundled = word.length > 1 && Array.from(word).some((letter) => valued.includes(letter));
    if (grammar.loneValues && isBundled && !/^[A-Za-z][+-]?(?:0x[\da-f]+|\d+)$/i.test(word)) {
      effects.push(at);
      return at;
    }
    const end = Array.from(word).findIndex((letter) => !flags.includes(letter));
    for (const letter of word.slice(0, end < 0 ? undefined : end + 1)) names.add(letter);
    if (end < 0) return at;
    const letter = word.charAt(end);
    if (!valued.includes(letter)) {
      effects.push(at);
      return at; // it is unknown whether this option takes a value, so the rest is not analysed
    }
    if (end < word.length - 1) values.set(letter, word.slice(end + 1));
    const next = end === word.length - 1 ? takeValue(letter, at) : at;
    if (kind === "script" && letter === "e") scripts.push(next);
    return next;
  };
  for (let at = 0; at < args.length; at++) {
    const { text, glob } = args[at]!;
    if (text === undefined || (glob && /^[-*?[]/.test(text))) {
      if (!grammar.harmless) effects.push(at);
      operands.push(at);
    } else if (text === "--") {
      for (let rest = at + 1; rest < args.length; rest++) operands.push(rest);
      break;
    } else if (text.startsWith("--")) {
      const [name, value] = splitOnce(text.slice(2));
      const takesValue = longs.has(`${name}=`);
      if (value !== undefined ? !takesValue : !longs.has(name) && !takesValue) effects.push(at);
      else if (value !== undefined) values.set(name, value);
      else if (!longs.has(name)) at = takeValue(name, at);
      names.add(name);
      if (kind === "script" && name === "expression") scripts.push(at);
    } else if (text.startsWith("-") && text !== "-") {
      if (!(number && /^-\d+$/.test(text))) at = letters(text.slice(1), at);
    } else operands.push(at);
  }
  const textAt = (at: number): string | undefined => args[at]?.text;
  const noPattern = names.has("e") || names.has("regexp") || names.has("expression") || names.has("files");
  const first = kind === "pattern" || kind === "script" ? (noPattern ? 0 : 1) : 0;
  if (kind === "script") {
    const all = [...scripts, ...(first === 1 ? operands.slice(0, 1) : [])];
    for (const at of all) {
      const script = textAt(at)?.replace(/^(?:-\w*e|--expression=)/, "");
      if (script === undefined || !grammar.isReading!(script)) effects.push(at);
    }
  }
  for (const at of args.keys()) if (grammar.badWord?.test(textAt(at) ?? "") === true) effects.push(at);
  for (const at of operands.slice(first)) if (grammar.badOperand?.test(textAt(at) ?? "") === true) effects.push(at);
  // A word with a glob may expand to several words, also as the value of an option: `uniq f*` and `uniq -f f* g` write
  // to a second file.
  const { most } = grammar;
  if (most !== undefined) {
    effects.push(...operands.slice(most));
    effects.push(...args.flatMap((_, at) => (/[*?[]/.test(textAt(at) ?? "*") ? [at] : [])));
  }
  const paths = kind === "texts" ? [] : operands.slice(first).flatMap((at) => textAt(at) ?? []);
  return { names, values, effects: [...new Set(effects)].toSorted((one, other) => one - other), operands, paths };
}

/**
 * Whether a word is the value of the option before it. A word with a glob, and a word that is only known at run time,
 * may become several words. If the value of an option is optional, a word that looks like an option is an option.
 */
export function isOneValue({ text, glob }: ShellWord): boolean {
  return text !== undefined && !(glob && /^[-*?[]/.test(text)) && !/^-(?!\d+$)./s.test(text);
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
