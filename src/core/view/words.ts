import { type Cost, formatCost, tokensText, type Usage } from "../outcome/usage.ts";
import type { NodeView } from "../run/state.ts";
import { type DurationStyle, formatDuration } from "../text/duration.ts";
import { sanitize } from "../text/sanitize.ts";
import type { Look } from "./look.ts";

/** Text from outside, such as a model's, as one line that is safe for a terminal. A very long text is cut. */
export function terminalLine(text: string): string {
  if (text.length < LINE_CHARS && HARMLESS.test(text)) return text; // a shortcut for most texts: screens call this often
  const line = sanitize(text.slice(0, LINE_CHARS)).replace(/\s+/g, " ").trim();
  return text.length > LINE_CHARS ? `${line} ... (${text.length - LINE_CHARS} more characters)` : line;
}

/** Matches printable ASCII with single spaces. */
const HARMLESS = /^(?:[\x21-\x7e]+(?: [\x21-\x7e]+)*)?$/;

/** The maximum length of a displayed line; a record of megabytes must not fill the terminal. */
const LINE_CHARS = 4_000;

/** How often each tool was called, the most used first: `read_file×5, grep_files×3`. */
export function toolsUsed(tools: Readonly<Record<string, number>>, { signs }: Look): string {
  return Object.entries(tools)
    .toSorted(([, a], [, b]) => b - a)
    .map(([tool, count]) => `${terminalLine(tool)}${signs.times}${count}`)
    .join(", ");
}

/** What a task used: `1.2s · 4 turns · 13k tokens · read_file×5 · offline`. */
export function spentBy(view: NodeView, now: number, look: Look): string {
  const { usage, cost, model, tools, startedAt, endedAt } = view;
  return listed(
    [
      took((endedAt ?? now) - startedAt, look),
      ...amounts(usage),
      ...price(cost),
      toolsUsed(tools, look),
      terminalLine(model ?? ""),
    ],
    look,
  );
}

/** The usage of a run as parts of a text: turns, tokens, money. */
export function spentInAll(usage: Usage, cost: Cost): string[] {
  const cut = usage.estimated === undefined ? [] : [`about ${tokensText(usage.estimated)} cut off`];
  if (usage.turns === 0 && cut.length === 0) return ["nothing spent"];
  return [...amounts(usage), ...cut, formatCost(cost), ...cacheWords(usage, cost)];
}

/** What caches of providers saved: `48k tokens from cache, saved $0.1300`. */
function cacheWords({ cacheRead }: Usage, { saved = 0 }: Cost): string[] {
  if (cacheRead === 0) return [];
  return [`${tokensText(cacheRead)} from cache${saved > 0 ? `, saved $${saved.toFixed(4)}` : ""}`];
}

/**
 * How far the clocks of two machines may differ. A time that lies further in the future was written before a clock was
 * set back.
 */
const MOST_SKEW_MS = 5_000;

/** A duration in short form: in the style that the settings choose, else in the usual style of the view. */
export function took(
  ms: number,
  { durations }: Readonly<{ durations?: DurationStyle | undefined }>,
  usual: DurationStyle = "tight",
): string {
  return ms < -MOST_SKEW_MS ? "?" : formatDuration(Math.max(0, ms), durations ?? usual);
}

/** Joins the parts that are not empty, with a dot between them. */
export function listed(parts: readonly string[], { signs }: Pick<Look, "signs">): string {
  return parts.filter((part) => part !== "").join(signs.dot);
}

/** A number with its noun: `1 task`, `2 tasks`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function amounts({ turns, input, output, cacheRead, cacheWrite }: Usage): string[] {
  if (turns === 0) return [];
  return [counted(turns, "turn"), tokensText(input + output + cacheRead + cacheWrite)];
}

function price(cost: Cost): string[] {
  return cost.usd > 0 || cost.unpriced > 0 || (cost.estimated ?? 0) > 0 ? [formatCost(cost)] : [];
}
