import type { JSX } from "preact";

/** True for a text that contains a unified diff. */
export const looksLikeDiff = (text: string): boolean => /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.test(text);

const MOST_LINES = 2_000;

/** Shows a unified diff; the signs of its lines say the same as their colours. */
export function DiffView({ text }: Readonly<{ text: string }>): JSX.Element {
  const all = text.replace(/\n$/, "").split("\n");
  const lines = all.slice(0, MOST_LINES);
  return (
    <pre class="diff" tabIndex={0}>
      {lines.map((line) => (
        <span class={kindOf(line)}>{`${line}\n`}</span>
      ))}
      {all.length > MOST_LINES ? <span class="dim">{`... ${all.length - MOST_LINES} more lines`}</span> : null}
    </pre>
  );
}

function kindOf(line: string): string {
  if (/^(?:\+\+\+|---|===|Index:|diff |index )/.test(line)) return "file";
  if (line.startsWith("@@")) return "place";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
}
