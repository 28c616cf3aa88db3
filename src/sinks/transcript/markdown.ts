import { explain } from "../../core/outcome/outcome.ts";
import { formatCost } from "../../core/outcome/usage.ts";
import { codeSpan, fence } from "../../core/text/fence.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { Transcript, TranscriptEntry } from "../../core/view/transcript.ts";

/**
 * The transcript of tasks as one Markdown document. Texts of models and tools are in code blocks that they cannot
 * close.
 */
export function transcriptMarkdown(title: string, transcripts: readonly Transcript[]): string {
  const parts = transcripts.flatMap(({ path, agent, model, entries }) => [
    `## ${path === "" ? "Run" : codeSpan(oneLine(path))}`,
    [agent, model]
      .filter((each) => each !== undefined)
      .map((each) => codeSpan(oneLine(each)))
      .join(" on "),
    ...entries.map(entryMarkdown),
  ]);
  return `${[`# ${codeSpan(oneLine(title))}`, ...parts].filter((part) => part !== "").join("\n\n")}\n`;
}

function entryMarkdown(entry: TranscriptEntry): string {
  switch (entry.kind) {
    case "prompt":
      return `### Prompt${entry.attempt > 1 ? ` (attempt ${entry.attempt})` : ""}\n\n${block(entry.text)}`;
    case "turn": {
      const { input, cacheRead, output } = entry.usage;
      const head = `### Turn ${entry.turn}\n\n${input + cacheRead} tokens in, ${output} out, ${formatCost(entry.cost)}`;
      const thinking = entry.thinking.trim() === "" ? [] : [`*thinking:*\n\n${block(entry.thinking)}`];
      return [head, ...thinking, ...(entry.text.trim() === "" ? [] : [block(entry.text)])].join("\n\n");
    }
    case "call": {
      const input = fence(sanitize(JSON.stringify(entry.input, null, 2) ?? ""), "json");
      const result = entry.result.trim() === "" ? "" : `\n\n${block(entry.result)}`;
      return `### ${codeSpan(oneLine(entry.tool))}: ${entry.state === "open" ? "no result recorded" : entry.state}\n\n${input}${result}`;
    }
    case "question": {
      const { answer } = entry;
      const said =
        answer === undefined
          ? "No answer yet."
          : `Answer: ${answer.approve ? "yes" : "no"}${answer.text ? `\n\n${block(answer.text)}` : ""}`;
      return `### Question\n\n${block(entry.text)}\n\n${said}`;
    }
    case "message":
      return `### Message from ${codeSpan(oneLine(entry.from))}\n\n${block(entry.text)}`;
    case "note":
      return `*${entry.label}:* ${codeSpan(oneLine(entry.text))}`;
    case "end": {
      const { outcome } = entry;
      const output = "output" in outcome && typeof outcome.output === "string" ? outcome.output : "";
      const head =
        outcome.status === "ok" ? "### Result" : `### ${outcome.status}\n\n${codeSpan(oneLine(explain(outcome)))}`;
      return output.trim() === "" ? head : `${head}\n\n${block(output)}`;
    }
  }
}

const block = (text: string): string => fence(sanitize(text).trimEnd());
const oneLine = (text: string): string => sanitize(text).replace(/\s+/g, " ").trim();
