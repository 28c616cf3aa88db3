import { explain } from "../../core/outcome/outcome.ts";
import { formatCost } from "../../core/outcome/usage.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { Transcript, TranscriptEntry } from "../../core/view/transcript.ts";

/** The transcript of tasks as one HTML page without scripts or outside requests. All texts are escaped. */
export function transcriptHtml(title: string, transcripts: readonly Transcript[]): string {
  const sections = transcripts.map(
    ({ path, agent, model, entries }) =>
      `<section><h2>${escaped(path === "" ? "Run" : path)} <small>${escaped([agent, model].filter((each) => each !== undefined).join(" on "))}</small></h2>\n${entries.map(entryHtml).join("\n")}</section>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(title)}</h1>
${sections.join("\n")}
</body></html>
`;
}

function entryHtml(entry: TranscriptEntry): string {
  switch (entry.kind) {
    case "prompt":
      return card("Prompt", entry.attempt > 1 ? `attempt ${entry.attempt}` : "", pre(entry.text));
    case "turn": {
      const { input, cacheRead, output } = entry.usage;
      const about = `${input + cacheRead} in, ${output} out, ${formatCost(entry.cost)}`;
      const thinking =
        entry.thinking.trim() === "" ? "" : `<details><summary>thinking</summary>${pre(entry.thinking)}</details>`;
      return card(`Turn ${entry.turn}`, about, `${thinking}${pre(entry.text)}`);
    }
    case "call": {
      const state = entry.state === "open" ? "no result recorded" : entry.state;
      const input = pre(JSON.stringify(entry.input, null, 2) ?? "");
      return `<details class="${entry.state}"><summary><code>${escaped(entry.tool)}</code> ${state}</summary>${input}${pre(entry.result)}</details>`;
    }
    case "question": {
      const { answer } = entry;
      const said =
        answer === undefined
          ? "no answer yet"
          : `${answer.approve ? "yes" : "no"}${answer.text ? `: ${answer.text}` : ""}`;
      return card("Question", said, pre(entry.text));
    }
    case "message":
      return card("Message", `from ${entry.from}`, pre(entry.text));
    case "note":
      return `<p class="${entry.label === "warning" || entry.label === "limit" ? "error" : "note"}">${escaped(`${entry.label}: ${entry.text}`)}</p>`;
    case "end": {
      const { outcome } = entry;
      const output = "output" in outcome && typeof outcome.output === "string" ? outcome.output : "";
      return card(
        outcome.status === "ok" ? "Result" : outcome.status,
        outcome.status === "ok" ? "" : explain(outcome),
        pre(output),
      );
    }
  }
}

const card = (title: string, about: string, body: string): string =>
  `<article><h3>${escaped(title)} <small>${escaped(about)}</small></h3>${body}</article>`;
const pre = (text: string): string => (text.trim() === "" ? "" : `<pre>${escaped(text.trimEnd())}</pre>`);

const MARKS: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => sanitize(text).replace(/[&<>"']/g, (mark) => MARKS[mark] ?? "");

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.6rem;border-radius:.4rem}small{font-weight:normal;opacity:.7}
h3{margin:.8rem 0 .2rem;font-size:1rem}details{margin:.4rem 0;border-left:3px solid #8888;padding-left:.6rem}
details.error,p.error{border-color:#c33;color:#c33}details.denied{border-color:#c93}details.ok{border-color:#393}.note{opacity:.7}`;
