import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..", "..", "..");

/** One fenced block of a page. `mark` is the comment before it: its kind, or why it cannot run here. */
export type Block = Readonly<{ page: string; line: number; language: string; mark: string; text: string }>;

/** Pages for contributors, whose commands are those of the project itself. */
const forContributors = new Set(["docs/coverage.md", "docs/architecture.md", "CONTRIBUTING.md"]);

/** README and every page of docs/ for users. */
export const pages: readonly string[] = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
].filter((page) => !forContributors.has(page));

export const textOf = (page: string): string => readFileSync(join(root, page), "utf8");

const FENCE = /^(?:<!-- ([^\n]+?) -->\n\n?)?```(\w*)[^\n]*\n(.*?)^```$/gms;

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  const text = textOf(page);
  return Array.from(text.matchAll(FENCE), (match) => ({
    page,
    line: text.slice(0, match.index).split("\n").length,
    mark: match[1] ?? "",
    language: match[2] ?? "",
    text: match[3] ?? "",
  }));
}

/** The command lines of a block: comments and blank lines left out, continued lines joined. */
export function linesOf({ text }: Block): string[] {
  return text
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#\s.*$/, "").trim())
    .filter((line) => line !== "");
}

/** Splits a command line into words as a shell does; `undefined` when it needs a real shell. */
export function wordsOf(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (const letter of line) {
    if (quote !== "") {
      if (letter === quote) quote = "";
      else if (quote === '"' && letter === "$") return undefined;
      else word += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= "";
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/[|&;<>$`()*?\\]/.test(letter)) return undefined;
    else word = (word ?? "") + letter;
  }
  if (word !== undefined) words.push(word);
  return words;
}
