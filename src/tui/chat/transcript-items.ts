import { extractToolArgsPreview } from "../../core/task/preview.ts";
import { explain } from "../../core/outcome/outcome.ts";
import { isRecord } from "../../core/text/json.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { Look } from "../../core/view/look.ts";
import type { Transcript, TranscriptEntry } from "../../core/view/transcript.ts";
import { counted, terminalLine, took } from "../../core/view/words.ts";
import { codeLines, markdownLines } from "../markdown/markdown.ts";
import type { MarkdownOptions } from "../markdown/options.ts";
import { diffLines } from "./tool-lines.ts";

/**
 * One row that can be expanded: a message, a tool call, or a subagent, whose own rows are shown while it is expanded.
 */
export type TranscriptItem = Readonly<{
  /** An id that stays the same when rows are inserted before the row. */
  id: string;
  depth: number;
  title: string;
  body(options: MarkdownOptions): string[];
  /** The index of the subagent's row that this row belongs to; absent for rows of the main agent. */
  within?: number;
}>;

/**
 * The steps of runs as rows, in order. A subagent is one row after the tool call that started it, and contains its
 * steps and its own subagents.
 */
export function transcriptItems(runs: readonly (readonly Transcript[])[], look: Look): TranscriptItem[] {
  return runs.reduce<TranscriptItem[]>(
    (all, run, index) => [...all, ...runItems(run, look, { from: all.length, name: `${index}` })],
    [],
  );
}

function runItems(
  transcripts: readonly Transcript[],
  look: Look,
  { from, name }: Readonly<{ from: number; name: string }>,
): TranscriptItem[] {
  const items: TranscriptItem[] = [];
  const below = helpersOf(transcripts);
  const add = (transcript: Transcript, depth: number, within: number | undefined): void => {
    const place = within === undefined ? { depth } : { depth, within };
    const waiting = [...(below.get(transcript.path) ?? [])];
    const helpersBefore = (at: number): void => {
      while (waiting.length > 0 && waiting[0]!.startedAt < at) {
        addNamed(waiting.shift()!, depth, within);
      }
    };
    for (const [index, entry] of transcript.entries.entries()) {
      helpersBefore(entry.at);
      if (isPlainEnd(entry)) continue;
      items.push({ ...place, id: `${name} ${transcript.path} ${index}`, ...itemOf(entry, look) });
    }
    helpersBefore(Number.POSITIVE_INFINITY);
  };
  const addNamed = (transcript: Transcript, depth: number, within: number | undefined): void => {
    const place = within === undefined ? { depth } : { depth, within };
    items.push({ ...place, id: `${name} ${transcript.path}`, title: helperTitle(transcript, look), body: () => [] });
    add(transcript, depth + 1, from + items.length - 1);
  };
  const main = (below.get(undefined) ?? []).filter(({ entries }) => !entries.every(isPlainEnd));
  // The only task of a run needs no row of its own; several would run into each other without.
  const isNamed = main.filter(({ path }) => path !== "").length > 1;
  for (const transcript of main)
    if (isNamed && transcript.path !== "") addNamed(transcript, 0, undefined);
    else add(transcript, 0, undefined);
  return items;
}

/**
 * The transcripts of subagents, by the path of the agent that started them. Transcripts without a known parent are
 * under `undefined`.
 */
function helpersOf(transcripts: readonly Transcript[]): ReadonlyMap<string | undefined, readonly Transcript[]> {
  const paths = new Set(transcripts.map(({ path }) => path));
  const below = new Map<string | undefined, Transcript[]>();
  for (const transcript of transcripts) {
    const above = transcript.path.split("/").slice(0, -1).join("/");
    // The paths of subagents contain the number of the agent's delegation: "lead.2/explore" was started by "lead".
    const parent = [above, above.replace(/\.\d+$/, "")].find((path) => path !== "" && paths.has(path));
    below.set(parent, [...(below.get(parent) ?? []), transcript]);
  }
  return below;
}

/** True for a successful end, which needs no row because the answer is visible. */
const isPlainEnd = (entry: TranscriptEntry): boolean => entry.kind === "end" && entry.outcome.status === "ok";

function helperTitle({ path, label, agent, entries, startedAt }: Transcript, { colors, signs, ...look }: Look): string {
  const end = entries.findLast(({ kind }) => kind === "end");
  const status = end?.kind === "end" ? end.outcome.status : undefined;
  const sign =
    status === undefined
      ? colors.cyan(signs.step)
      : status === "ok"
        ? colors.green(signs.ok)
        : colors[status === "failed" ? "red" : "yellow"](signs.failed);
  const who = [agent, label === path && path.includes("/") ? "" : label]
    .filter((part) => part !== undefined && part !== "")
    .join(": ");
  const calls = entries.filter(({ kind }) => kind === "call").length;
  const time = end === undefined ? "" : `${signs.dot}${took(end.at - startedAt, look)}`;
  return `${sign} ${colors.bold(terminalLine(who || path))}${colors.dim(`${signs.dot}${counted(calls, "call")}${time}`)}`;
}

type Opening = Pick<TranscriptItem, "title" | "body">;

function itemOf(entry: TranscriptEntry, look: Look): Opening {
  const { colors, signs } = look;
  const item = (title: string, text: string): Opening => ({
    title,
    body: (options) => markdownLines(text, options),
  });
  switch (entry.kind) {
    case "prompt":
      return item(`${colors.bold(">")} ${terminalLine(entry.text)}`, entry.text);
    case "turn": {
      const thinking = entry.thinking === "" ? "" : `${entry.thinking.replace(/^/gm, "> ")}\n\n`;
      return item(
        terminalLine(entry.text) || colors.dim(`turn ${entry.turn}${entry.thinking === "" ? "" : ", with thinking"}`),
        `${thinking}${entry.text}`,
      );
    }
    case "call": {
      const preview = extractToolArgsPreview(entry.tool, isRecord(entry.input) ? entry.input : {});
      const sign =
        entry.state === "ok"
          ? colors.green(signs.ok)
          : entry.state === "open"
            ? colors.cyan(signs.step)
            : colors.red(signs.failed);
      const time = entry.ms === undefined ? "" : colors.dim(`${signs.dot}${took(entry.ms, look)}`);
      return {
        title: `${sign} ${terminalLine(`${entry.tool} ${preview}`)}${time}`,
        body: (options) => callBody(entry, options),
      };
    }
    case "question": {
      const said = entry.answer === undefined ? "no answer yet" : entry.answer.approve ? "yes" : "no";
      return item(`? ${terminalLine(entry.text)} (${said})`, `${entry.text}\n\n${entry.answer?.text ?? said}`);
    }
    case "message":
      return item(`${terminalLine(entry.from)}: ${terminalLine(entry.text)}`, entry.text);
    case "note":
      return item(colors.dim(`${entry.label}: ${terminalLine(entry.text)}`), entry.text);
    case "end":
      return item(
        colors.dim(`ended: ${entry.outcome.status === "ok" ? "ok" : terminalLine(explain(entry.outcome))}`),
        "output" in entry.outcome ? (entry.outcome.output ?? "") : "",
      );
  }
}

function callBody(
  { input, result, tool }: Extract<TranscriptEntry, { kind: "call" }>,
  options: MarkdownOptions,
): string[] {
  const diff = diffLines(result, { ...options, most: Number.POSITIVE_INFINITY });
  const asked = codeLines(sanitize(JSON.stringify(input, null, 2) ?? ""), "json", options);
  const answered = diff.length > 0 ? diff : codeLines(sanitize(result), "", options);
  return [
    options.look.colors.dim(`${terminalLine(tool)} was called with`),
    ...asked,
    options.look.colors.dim("and returned"),
    ...answered,
  ];
}
