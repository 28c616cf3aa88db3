import { contextWindow } from "../model/context-window.ts";
import { explain } from "../outcome/outcome.ts";
import { type Cost, formatTokens, type Usage } from "../outcome/usage.ts";
import { nodeAt } from "../plan/graph.ts";
import { progressOf, progressWords, settledWords } from "./nodes.ts";
import type { Look } from "./look.ts";
import { terminalLine, took } from "./words.ts";
import { shownEnd, type TopRow } from "./run-rows.ts";

/**
 * The columns after state and name, the most important first: the last columns are dropped when the terminal is narrow.
 */
export const columns = ["agent", "model", "doing", "turns", "context", "tokens", "price", "diff", "age"] as const;
export type Column = (typeof columns)[number];

type Durations = Pick<Look, "durations">;

/** The text of a row in one column. */
export function cellOf(row: TopRow, column: Column, now: number, look: Durations = {}): string {
  return cells[column](row, now, look);
}

const cells: Readonly<Record<Column, (row: TopRow, now: number, look: Durations) => string>> = {
  agent: ({ node, run, path }) => terminalLine(node?.agent ?? taskAt({ run, path })?.agent ?? ""),
  model: ({ node, run, path }) =>
    shortModel(terminalLine(node?.model ?? [taskAt({ run, path })?.model ?? ""].flat()[0] ?? "")),
  doing: doingOf,
  turns: ({ node }) => {
    const taken = node?.usage.turns ?? 0;
    if (!node || (taken === 0 && !node.limits)) return "";
    return node.limits ? `${taken}/${node.limits.maxTurns}` : String(taken);
  },
  context: ({ node }) => {
    const window = node?.model === undefined ? undefined : contextWindow(node.model);
    const used = node?.usage.contextTokens ?? 0;
    return window === undefined || used === 0 ? "" : `${Math.min(999, Math.round((100 * used) / window))}%`;
  },
  tokens: (row) => {
    const { input, output, cacheRead, cacheWrite } = spentOf(row).usage;
    const all = input + output + cacheRead + cacheWrite;
    return all === 0 ? "" : formatTokens(all);
  },
  price: (row) => priceText(spentOf(row).cost),
  diff: ({ run, path }) => {
    const size = run.diffs?.get(path);
    return size ? `+${size.added} -${size.removed}` : "";
  },
  age: ({ node, run, path }, now, look) => {
    const { startedAt } = path === "" ? run.state : (node ?? { startedAt: 0 });
    return startedAt === 0 ? "" : shortAge((shownEnd(run, path === "" ? undefined : node) ?? now) - startedAt, look);
  },
};

/** A model name without provider and date: `claude-haiku-4-5` of `anthropic/claude-haiku-4-5-20251001`. */
const shortModel = (name: string): string =>
  name.slice(name.lastIndexOf("/") + 1).replace(/-\d{8}$|-\d{4}-\d{2}-\d{2}$/, "");

function taskAt({ run, path }: Pick<TopRow, "run" | "path">) {
  const node = run.state.plan && path !== "" ? nodeAt(run.state.plan, path) : undefined;
  return node?.kind === "task" ? node.task : undefined;
}

const NOTHING: Readonly<{ usage: Usage; cost: Cost }> = {
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, contextTokens: 0, turns: 0 },
  cost: { usd: 0, unpriced: 0 },
};

const spentOf = ({ path, run, node }: TopRow): Readonly<{ usage: Usage; cost: Cost }> =>
  path === "" ? run.state : (node ?? NOTHING);

/** A price such as `$0.0150`, with a question mark where a part of it is unknown. */
function priceText({ usd, unpriced, estimated = 0 }: Cost): string {
  const known = usd + estimated;
  if (known === 0) return unpriced > 0 ? "?" : "";
  return `$${known < 10 ? known.toFixed(4) : known.toFixed(2)}${unpriced > 0 ? "?" : ""}`;
}

/**
 * An age in whole seconds, so that the row changes at most once a second. Number and unit have no space between them
 * unless the settings ask for it.
 */
function shortAge(ms: number, look: Durations): string {
  const whole = ms - (ms % 1_000);
  const text = took(whole, look, "spaced");
  return look.durations === "spaced" ? text : text.replace(" ", "").replace(".0s", "s");
}

/**
 * The text about the current activity of a row: its question, its fault, the current tool, the last words, what it
 * waits for, or its result.
 */
function doingOf(row: TopRow): string {
  const { group, node, run, path, waitsFor, folded } = row;
  if (path === "") return runDoing(row);
  if (node === undefined) return group === "done" ? "was not started" : waitingFor(waitsFor);
  switch (group) {
    case "needs you":
      return terminalLine(shortQuestion(node.question ?? waitsFor));
    case "waiting":
      return waitingFor(waitsFor);
    case "working":
      return terminalLine(node.calling > 0 ? node.doing : lastWords(node.text || node.partial) || node.doing);
    default: {
      const text = node.outcome ? terminalLine(explain(node.outcome)) : `the run is ${run.life}`;
      return folded > 0 ? `${text} (${folded} rows below)` : text;
    }
  }
}

/** Whether the row shows the text that a task is writing; then its end is shown. */
export const isWriting = ({ group, node, path }: TopRow): boolean =>
  group === "working" && path !== "" && node !== undefined && node.calling === 0 && (node.text || node.partial) !== "";

/**
 * Shortens a question about a tool call to the tool and its arguments. The name of the agent that asks is left out,
 * because another column shows it.
 */
export function shortQuestion(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const [, tool] = /^.{1,200}? wants to use (\S+?)(?: \(.*\))?:$/.exec(first) ?? [];
  if (tool === undefined) return text;
  // Lines of the question that are not indented are about the sandbox.
  const input = rest.filter((line) => line.startsWith("  ")).join(" ");
  return `${tool} ${input.replace(/^ {2}(?:command|path|file_path|url|pattern|query|prompt|input): ?/, "")}`;
}

const waitingFor = (what: string): string =>
  terminalLine(/^(?:paused|interrupted|the run is|to retry)\b/.test(what) ? what : `for ${what}`);

function runDoing({ run: { state, life, problems }, group, waitsFor }: TopRow): string {
  if (life === "damaged") return terminalLine(problems.join(" "));
  const words = (group === "working" ? progressWords : settledWords)(progressOf(state)).join(", ");
  const why = group === "failed" && state.outcome ? explain(state.outcome) : waitsFor;
  return terminalLine([words, why].filter((part) => part !== "").join(": "));
}

/** The last line of the text that is being written, because only this line changes. */
function lastWords(text: string): string {
  const end = text.trimEnd();
  return end.slice(end.lastIndexOf("\n") + 1).trim();
}
