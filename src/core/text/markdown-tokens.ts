import { Lexer, type Token, type Tokens } from "marked";

/**
 * The size above which text is shown unformatted: parsing it again with every piece that arrives would take too long.
 */
export const MOST_PARSED = 64_000;

/** The blocks of a Markdown text without the blank lines between them. Text that cannot be parsed is one block. */
export function tokensOf(text: string): Token[] {
  return allTokensOf(text).filter(({ type }) => type !== "space" && type !== "def");
}

/** Every block of a Markdown text, blank lines included: joined, they are the whole text. */
export function allTokensOf(text: string): Token[] {
  if (text.length > MOST_PARSED || DEEP.test(text)) return [plain(text)];
  const lexer = new Lexer();
  const queue = lexer.inline.bind(lexer);
  lexer.inline = (src, tokens = []) => {
    if (!isCostly(src)) return queue(src, tokens);
    tokens.push(plain(src));
    return tokens;
  };
  return [...lexer.lex(text)];
}

/**
 * Matches deeply nested quotes and lists. The parser nests once per mark, and takes cubic time for text that consists
 * of marks, so such text is shown unparsed.
 */
const DEEP = /^(?:[ \t]*(?:>|[-*+](?= ))){16}/m;
const isCostly = (text: string): boolean => (text.match(MARKS)?.length ?? 0) > MOST_MARKS;
const MARKS = /[*_`[\]<~]/g;
const MOST_MARKS = 200;

const plain = (raw: string): Tokens.Text => ({ type: "text", raw, text: raw, escaped: false });
