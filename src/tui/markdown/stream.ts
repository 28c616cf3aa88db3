import type { Token, Tokens } from "marked";
import { sanitize } from "../../core/text/sanitize.ts";
import { allTokensOf, MOST_PARSED } from "../../core/text/markdown-tokens.ts";
import { blockLines, codeLines } from "./markdown.ts";
import type { MarkdownOptions } from "./options.ts";

/** Markdown that arrives in pieces. Finished lines are returned once; the rest may still change. */
export type MarkdownStream = Readonly<{
  /** Adds text and returns the lines that are final. */
  push(text: string): string[];
  /** The lines that may still change. */
  open(): string[];
  /** Returns the remaining lines; the stream is empty afterwards. */
  end(): string[];
}>;

/** Creates a stream. `options` is a function, because the width of the terminal can change between two calls. */
export function createMarkdownStream(options: () => MarkdownOptions): MarkdownStream {
  let raw = "";
  let buffer = "";
  let printed = 0;
  /** The number of lines of the open code block that have already been returned. */
  let codeDone = 0;
  /** True when the first items of the current list have already been returned. */
  let continued = false;

  const spaced = (lines: string[]): string[] => {
    const between = printed > 0 && !continued && codeDone === 0 && lines.length > 0 ? [""] : [];
    return [...between, ...lines];
  };
  const take = (lines: string[]): string[] => {
    const all = spaced(lines);
    printed += all.length;
    return all;
  };
  /** Returns the final lines at the beginning of the buffer, and removes them. */
  const settle = (): string[] => {
    const tokens = allTokensOf(buffer);
    const end = tokens.findLastIndex(({ type }) => type !== "space");
    const last = end >= 0 && isClosedFence(tokens[end]!) ? end + 1 : end;
    const done: string[] = [];
    let used = 0;
    for (const token of tokens.slice(0, Math.max(0, last))) {
      if (buffer.slice(used, used + token.raw.length) !== token.raw) return done; // the parser changed the text, so nothing is final before the end
      used += token.raw.length;
      done.push(...take(blockLines(token, options()).slice(codeDone)));
      if (token.type !== "space") {
        continued = false;
        codeDone = 0;
      }
    }
    buffer = buffer.slice(used);
    const open = tokens[last];
    if (open?.type === "code") done.push(...settleCode());
    if (open?.type === "list") done.push(...settleList(open as Tokens.List));
    return done;
  };
  /**
   * Returns the complete lines of an open code block, which are final. The opening line of the code block stays in the
   * buffer, so that the colours stay right.
   */
  const settleCode = (): string[] => {
    const fence = FENCE.exec(buffer);
    if (!fence) return [];
    const end = buffer.lastIndexOf("\n");
    const code = buffer.slice(fence[0].length, Math.max(end, fence[0].length));
    const lines = end < fence[0].length ? [] : codeLines(code, fence[2] ?? "", options());
    const fresh = take(lines.slice(codeDone));
    codeDone = Math.max(codeDone, lines.length);
    return fresh;
  };
  /** Returns all items but the last; they are final. Items of a loose list are separated by a blank line. */
  const settleList = (list: Tokens.List): string[] => {
    const items = list.items.slice(0, -1);
    if (items.length === 0) return [];
    const length = items.reduce((sum, item) => sum + item.raw.length, 0);
    if (
      list.items.map(({ raw: text }) => text).join("") !==
      list.raw.slice(
        0,
        list.items.reduce((sum, { raw: text }) => sum + text.length, 0),
      )
    )
      return [];
    const fresh = take(blockLines({ ...list, items }, options()));
    continued = !list.loose;
    buffer = buffer.slice(buffer.indexOf(list.raw) + length);
    return fresh;
  };

  const clean = (final: boolean): void => {
    // A control sequence at the end of the text may be incomplete, so the end of the text is held back until the rest
    // arrives.
    const safe = final ? raw.length : safeLength(raw);
    buffer += sanitize(raw.slice(0, safe));
    raw = raw.slice(safe);
  };
  return {
    push: (text) => {
      raw += text;
      clean(false);
      if (!buffer.includes("\n")) return [];
      return buffer.length > MOST_PARSED ? flush() : settle();
    },
    open: () =>
      spaced(
        allTokensOf(buffer)
          .filter(({ type }) => type !== "space")
          .flatMap((token, index) => [
            ...(index > 0 ? [""] : []),
            ...blockLines(token, options()).slice(index === 0 ? codeDone : 0),
          ]),
      ),
    end: () => {
      clean(true);
      const lines = flush();
      printed = 0;
      return lines;
    },
  };

  function flush(): string[] {
    const lines: string[] = [];
    for (const token of allTokensOf(buffer)) {
      if (token.type === "space") continue;
      lines.push(...take(blockLines(token, options()).slice(codeDone)));
      continued = false;
      codeDone = 0;
    }
    buffer = "";
    return lines;
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/;

/** True for a code block whose closing fence has arrived, so that nothing can be added to it. */
function isClosedFence({ type, raw }: Token): boolean {
  const [, fence] = (type === "code" && FENCE.exec(raw)) || [];
  return (
    fence !== undefined &&
    raw
      .split("\n")
      .slice(1)
      .some((line) => line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim()))
  );
}

/** The length of the text before a control sequence that may be incomplete. */
function safeLength(text: string): number {
  const at = Math.max(text.lastIndexOf("\u001b"), text.lastIndexOf("\u009b"), text.lastIndexOf("\u009d"));
  return at >= 0 && text.length - at < LONGEST_SEQUENCE && !text.slice(at).includes("\n") ? at : text.length;
}

const LONGEST_SEQUENCE = 4_096;
