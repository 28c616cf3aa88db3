import type { Token, Tokens } from "marked";
import type { ComponentChild, JSX } from "preact";
import { useMemo } from "preact/hooks";
import { tokensOf } from "../../../core/text/markdown-tokens.ts";
import { DiffView, looksLikeDiff } from "./diff.tsx";

/** Renders Markdown. HTML in it stays text, images become their description, and only web links can be followed. */
export function Markdown({ text }: Readonly<{ text: string }>): JSX.Element {
  const blocks = useMemo(() => tokensOf(text).map(block), [text]);
  return <div class="markdown">{blocks}</div>;
}

function block(token: Token): ComponentChild {
  switch (token.type) {
    case "heading": {
      const Tag = `h${Math.min(6, Number(token["depth"]) + 2)}` as "h3";
      return <Tag>{inline(token.tokens)}</Tag>;
    }
    case "code":
      return looksLikeDiff(String(token["text"])) ? (
        <DiffView text={String(token["text"])} />
      ) : (
        <pre tabIndex={0}>
          <code>{String(token["text"])}</code>
        </pre>
      );
    case "list": {
      const list = token as Tokens.List;
      const items = list.items.map((item) => (
        <li>
          {item.task ? <input type="checkbox" checked={item.checked === true} disabled aria-label="task" /> : null}
          {item.tokens.filter(({ type }) => type !== "checkbox").map(block)}
        </li>
      ));
      return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
    }
    case "blockquote":
      return <blockquote>{(token.tokens ?? []).map(block)}</blockquote>;
    case "table":
      return table(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "text":
      return token.tokens ? <span>{inline(token.tokens)}</span> : <span class="plain">{String(token["text"])}</span>;
    default:
      return <p class="plain">{token.raw}</p>;
  }
}

function table({ header, rows }: Tokens.Table): JSX.Element {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {header.map((cell) => (
              <th scope="col">{inline(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{inline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] = []): ComponentChild[] {
  return tokens.map((token): ComponentChild => {
    switch (token.type) {
      case "strong":
        return <strong>{inline(token.tokens)}</strong>;
      case "em":
        return <em>{inline(token.tokens)}</em>;
      case "del":
        return <del>{inline(token.tokens)}</del>;
      case "codespan":
        return <code>{String(token["text"])}</code>;
      case "br":
        return <br />;
      case "link":
        return link(String(token["href"]), inline(token.tokens));
      case "image":
        return <span class="dim">[image: {String(token["text"] || token["href"])}]</span>;
      case "escape":
        return String(token["text"]);
      case "text":
        return token.tokens ? inline(token.tokens) : unescaped(token.raw);
      default:
        return token.raw;
    }
  });
}

/** The allowed schemes of links. Others could run code or start programs. */
function link(href: string, children: ComponentChild[]): ComponentChild {
  if (!/^(?:https?:|mailto:)/i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00a0",
};
const unescaped = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity] ?? entity);
