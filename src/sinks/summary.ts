import { explain, type Outcome } from "../core/outcome/outcome.ts";
import { limitNote } from "../core/outcome/reached-limit.ts";
import { addCost, formatCost, noCost, tokensText } from "../core/outcome/usage.ts";
import type { NodeView, State } from "../core/run/state.ts";
import { cutHead, INLINE_CHARS } from "../core/text/cut.ts";
import { shellWord } from "../core/text/shell-word.ts";
import { fit, pad, widthOf, wordRows } from "../core/view/fit.ts";
import type { Look } from "../core/view/look.ts";
import { nodeTitle, shownNodes, signFor, unapprovedNodes } from "../core/view/nodes.ts";
import { counted, listed, spentBy, spentInAll, terminalLine, took } from "../core/view/words.ts";

/** The width of a summary, and whether it lists the tasks. */
export type SummaryOptions = Readonly<{ look: Look; columns: number; tasks: boolean }>;

/** The summary after a run: the result of each task, cost, files and next step. */
export function summaryOf(state: State, options: SummaryOptions): string[] {
  const { look, tasks } = options;
  return [
    ...(tasks ? taskLines(state, options) : []),
    ...endLines(state, look),
    ...reviewLines(state, look),
    ...reuseLines(state, look),
    ...outputLines(state, look),
    ...nextLines(state, options),
    ...refusedLines(state, look),
  ];
}

/** The last line of a run in which changes were refused: an answer may say that they were made. */
export function refusedLines({ refused }: State, { colors }: Look): string[] {
  const all = [...refused.values()];
  if (all.length === 0) return [];
  const shown = all
    .slice(0, MOST_REFUSED)
    .map(({ tool, target }) => terminalLine(`${tool} ${cutHead(target, 80).text}`));
  const more = all.length > shown.length ? ` and ${all.length - shown.length} more` : "";
  const why = all.some(({ unasked }) => unasked) ? ", because nobody could be asked" : "";
  const hint = all.length === 1 && all[0]!.hint !== undefined ? `. ${terminalLine(all[0]!.hint)}` : "";
  return [
    `${colors.yellow("not done")}: ${counted(all.length, "change")} refused${why}: ${shown.join(", ")}${more}${hint}`,
  ];
}

const MOST_REFUSED = 5;

/** Above this number, successful tasks are counted, not listed. */
const MOST_LISTED = 30;

function taskLines(state: State, options: SummaryOptions): string[] {
  const { look } = options;
  const all = shownNodes(state);
  const good = all.filter(({ status }) => status === "ok");
  const listedNodes =
    all.length > MOST_LISTED ? all.filter(({ status }) => status !== "ok").slice(0, MOST_LISTED) : all;
  const left = all.length - listedNodes.length;
  const names = Math.min(32, Math.max(0, ...listedNodes.map((view) => widthOf(nodeTitle(view)))));
  const rest =
    left === 0
      ? []
      : [`${look.colors.green(look.signs.ok)} ${left === good.length ? counted(left, "task") : `${left} more tasks`}`];
  return [...listedNodes.flatMap((view) => taskLine(view, names, options)), ...rest];
}

/** The lines of a task that has just ended. */
export function endedTaskLines(view: NodeView, look: Look, columns: number): string[] {
  return taskLine(view, widthOf(nodeTitle(view)), { look, columns, tasks: true });
}

function taskLine(view: NodeView, names: number, { look, columns }: SummaryOptions): string[] {
  const { colors, signs } = look;
  const begin = `${signFor(view, look)} ${pad(nodeTitle(view), names)}  `;
  const indent = " ".repeat(names + 4);
  const { outcome } = view;
  const spent =
    view.usage.turns > 0 || outcome?.status === "ok"
      ? colors.dim(fit(spentBy(view, view.endedAt ?? view.startedAt, look), columns - names - 4, signs.more))
      : "";
  if (!outcome || outcome.status === "ok")
    return [`${begin}${spent}`, ...(outcome?.limit ? [`${indent}${colors.yellow(limitNote(outcome))}`] : [])];
  const room = Math.max(20, columns - names - 4);
  const why = wordRows(terminalLine(explain(outcome)), room).map((text) =>
    outcome.status === "failed" ? colors.red(text) : text,
  );
  const hint = hintOf(outcome) === "" ? [] : wordRows(hintOf(outcome), room);
  return [...why, ...hint, ...(spent === "" ? [] : [spent])].map((text, at) => `${at === 0 ? begin : indent}${text}`);
}

function endLines(state: State, look: Look): string[] {
  const { colors } = look;
  const ms = Math.max(0, (state.endedAt ?? state.startedAt) - state.startedAt);
  const facts = colors.dim(listed([...spentInAll(state.usage, state.cost), state.run], look));
  if (state.status === "paused") {
    const why = terminalLine(state.pausedFor ?? "");
    return [`${colors.yellow("paused")}${why === "" ? "" : `: ${why}`}${look.signs.dot}${facts}`];
  }
  const outcome = state.outcome ?? { status: "cancelled", reason: "the run has not ended" };
  const offline = state.offline ? [`  ${colors.yellow(OFFLINE)}`] : [];
  if (outcome.status === "ok")
    return [
      `${colors.green("done")} in ${took(ms, look)}${look.signs.dot}${facts}`,
      ...(outcome.limit ? [`  ${colors.yellow(limitNote(outcome))}`] : []),
      ...offline,
    ];
  const word = outcome.status === "cancelled" ? colors.yellow("cancelled") : colors.red("failed");
  const why = alreadySaid(state, outcome)
    ? []
    : explain(outcome)
        .split("\n")
        .map((line) => `  ${terminalLine(line)}`);
  const hint = alreadySaid(state, outcome) || hintOf(outcome) === "" ? [] : [`  ${hintOf(outcome)}`];
  return [`${word} after ${took(ms, look)}${look.signs.dot}${facts}`, ...why, ...hint, ...offline];
}

const OFFLINE =
  "No key of a model provider was found, so the offline model answered: it quotes what it finds and does not reason. Set a key, such as ANTHROPIC_API_KEY, or name a model with --model.";

/** The results reused from earlier runs, and the savings. */
function reuseLines(state: State, look: Look): string[] {
  const reused = [...state.nodes.values()].flatMap(({ path, reused: from }) => (from ? [{ path, ...from }] : []));
  if (reused.length === 0) return [];
  const names = reused.slice(0, 5).map(({ path, from }) => `${terminalLine(path)} from ${terminalLine(from)}`);
  const more = reused.length > names.length ? ` and ${reused.length - names.length} more` : "";
  const tokens = reused.reduce(
    (sum, { usage: { input, output, cacheRead, cacheWrite } }) => sum + input + output + cacheRead + cacheWrite,
    0,
  );
  const cost = reused.reduce((sum, each) => addCost(sum, each.cost), noCost());
  const saved = listed([tokens > 0 ? tokensText(tokens) : "", cost.usd > 0 ? formatCost(cost) : ""], look);
  return [look.colors.dim(`reused: ${names.join(", ")}${more}${saved === "" ? "" : ` (saved ${saved})`}`)];
}

/** One line for each task whose result was not approved in review. */
function reviewLines(state: State, { colors }: Look): string[] {
  return unapprovedNodes(state).map(({ path, outcome }) => {
    const rounds = outcome?.reviews?.length ?? 0;
    const why = rounds === 0 ? "the review failed" : `${counted(rounds, "round")} of review`;
    return `${colors.yellow("not approved")}: ${terminalLine(path)} (${why})`;
  });
}

/** True when the line of a task already gives the same error. */
function alreadySaid(state: State, outcome: Outcome): boolean {
  return shownNodes(state).some(
    (view) => view.outcome && view.outcome.status !== "ok" && explain(view.outcome) === explain(outcome),
  );
}

function hintOf(outcome: Outcome): string {
  return outcome.status === "failed" ? terminalLine(outcome.fault.hint ?? "") : "";
}

function outputLines(state: State, { colors }: Look): string[] {
  const long = shownNodes(state).flatMap(({ path, outcome }) => {
    const text = outcome && "output" in outcome ? (outcome.output ?? "") : "";
    return text.length > INLINE_CHARS ? [shellWord(`${state.run}/${path}`)] : [];
  });
  const shown = long
    .slice(0, MOST_OUTPUTS)
    .map((task) => colors.dim(`full output: subcrew result ${terminalLine(task)}`));
  return long.length > MOST_OUTPUTS
    ? [...shown, colors.dim(`and of ${counted(long.length - MOST_OUTPUTS, "more task")}`)]
    : shown;
}

const MOST_OUTPUTS = 5;

function nextLines({ run, outcome, status }: State, { look: { colors }, columns }: SummaryOptions): string[] {
  const next = (command: string, what: string): string[] => {
    const room = columns - command.length - what.length > "next:   ".length;
    return [`next: ${colors.bold(command)}${room ? `  ${colors.dim(what)}` : ""}`];
  };
  if (outcome?.status === "ok") return [];
  if (outcome?.status === "cancelled" && status !== "paused")
    return next(`subcrew resume ${run} "..."`, "continues the conversation");
  if (outcome?.status !== "failed") return next(`subcrew resume ${run}`, "continues where it stopped");
  if (outcome.fault.code === "NEEDS_ANSWER")
    return next(`subcrew resume ${run} --retry-failed`, "asks the question again; with --yes it is approved");
  return next(`subcrew resume ${run} --retry-failed`, "retries failed tasks and keeps the other results");
}
