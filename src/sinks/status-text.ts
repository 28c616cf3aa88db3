import { explain } from "../core/outcome/outcome.ts";
import { limitNote } from "../core/outcome/reached-limit.ts";
import { isActive, isEnded, type RunStatus, openQuestions } from "../core/run/run-status.ts";
import { parkedUntil } from "../core/run/parked-run.ts";
import { partialOf } from "../core/run/result.ts";
import type { State } from "../core/run/state.ts";
import { sanitize } from "../core/text/sanitize.ts";
import { describe, progressOf, progressWords, settledWords, shownNodes, unapprovedNodes } from "../core/view/nodes.ts";
import { createLook, type Look, stateColor } from "../core/view/look.ts";
import { outputOfRun } from "./output.ts";
import { spentInAll, terminalLine, took } from "../core/view/words.ts";

/** The words with which states of a run are shown. */
const words: Readonly<Record<RunStatus | "damaged", string>> = {
  starting: "starting",
  running: "running",
  waiting: "waiting for an answer",
  parked: "parked",
  paused: "paused",
  interrupted: "interrupted",
  ok: "completed",
  failed: "failed",
  cancelled: "cancelled",
  damaged: "damaged",
};

/** The maximum length of a shown result. */
const MOST_RESULT = 2_000;

const PLAIN = createLook({ color: false, unicode: true });

/** `answered`: the tasks whose questions were answered; the answers are kept until the run is resumed. */
type StatusOptions = Readonly<{ problems?: readonly string[]; answered?: readonly string[]; look?: Look }>;

/** The text of `subcrew status` and `/task-status`: state, progress and next step. */
export function statusText(
  state: State,
  life: RunStatus | "damaged",
  now: number,
  { problems = [], answered = [], look = PLAIN }: StatusOptions = {},
): string {
  const agents = [...new Set(shownNodes(state).flatMap(({ agent }) => (agent === undefined ? [] : [agent])))];
  const rows: (readonly [string, string])[] = [
    ["Task ID", state.run],
    [progressOf(state).total > 1 ? "Agents" : "Type", agents.join(", ")],
    ["Description", describe(state)],
    ["Status", words[life]],
    ["Duration", state.startedAt === 0 ? "" : took((state.endedAt ?? now) - state.startedAt, look, "spaced")],
    ["Tasks", (isActive(life) ? progressWords : settledWords)(progressOf(state)).join(", ")],
    [
      "Not approved",
      unapprovedNodes(state)
        .map(({ path }) => path)
        .join(", "),
    ],
    ["Doing", isEnded(life) || life === "interrupted" || life === "paused" ? "" : doingOf(state)],
    ["Completed", state.endedAt === undefined ? "" : new Date(state.endedAt).toISOString()],
    [
      "Tokens",
      state.usage.turns === 0
        ? ""
        : `${state.usage.input + state.usage.cacheRead + state.usage.cacheWrite} in / ${state.usage.output} out`,
    ],
    ["Cost", state.usage.turns === 0 ? "" : spentInAll(state.usage, state.cost).slice(2).join(", ")],
    ["Continues", state.continues ?? ""],
    ["Journal", problems.join(" ")],
  ];
  const colored = (name: string, text: string): string => (name === "Status" ? stateColor(look, life)(text) : text);
  const told = rows
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${look.colors.dim(`${name}:`)} ${colored(name, terminalLine(text))}`);
  return `${[told.join("\n"), ...questions(state, answered, look), ...ending(state, life, look)].join("\n\n")}\n`;
}

/** The current activity of the tasks, in one line. */
export function doingOf(state: State): string {
  const busy = shownNodes(state).filter(({ status, doing }) => status === "running" && doing !== "");
  return busy
    .map(({ label, doing }) =>
      busy.length === 1 ? terminalLine(doing) : `${terminalLine(label)}: ${terminalLine(doing)}`,
    )
    .join("; ");
}

function questions(state: State, answered: readonly string[], { colors }: Look): string[] {
  return openQuestions(state).map(({ run, path, question, wants }) => {
    const answer = answered.includes(path)
      ? "The question is answered; the answer takes effect when the run is resumed."
      : wants === "words"
        ? `subcrew inbox answer ${run}/${path} "..."`
        : `subcrew inbox allow ${run}/${path}, or deny`;
    return `${colors.magenta(`Question of ${terminalLine(path)}:`)}\n${indented(question)}\n  ${answer}`;
  });
}

function ending(state: State, life: RunStatus | "damaged", { colors }: Look): string[] {
  const next = (command: string): string => `Next: ${colors.bold(`subcrew ${command}`)}`;
  switch (life) {
    case "interrupted":
      return [
        `No process is running the run. Finished work is kept.\n${next(`resume ${state.run}`)}`,
        ...parkedLines(state),
        ...partialText(state),
      ];
    case "paused":
      return [
        `${state.pausedFor === undefined ? "" : `Paused: ${terminalLine(state.pausedFor)}. `}Finished work is kept.\n${next(`resume ${state.run}`)}`,
        ...parkedLines(state),
        ...partialText(state),
      ];
    case "damaged":
      return [
        `The run cannot be resumed: its journal is damaged. Its readable part is shown.\n${next(`logs ${state.run}`)}`,
        ...partialText(state),
      ];
    case "parked":
      return [...parkedLines(state), `To continue now: subcrew resume ${state.run}`];
    case "running":
      return parkedLines(state);
    case "ok":
      return [...limitsOf(state), `Result:\n${cut(outputOfRun(state))}`];
    case "failed":
      return [
        `${colors.red("Error:")} ${state.outcome ? sanitize(explain(state.outcome)) : ""}${faultsOf(state)}\n${next(`resume ${state.run} --retry-failed`)}`,
      ];
    case "cancelled":
      return [
        `${state.outcome ? sanitize(explain(state.outcome)) : ""}\n${next(`resume ${state.run} "..."`)} continues the conversation`,
      ];
    default:
      return [];
  }
}

function partialText(state: State): string[] {
  const partial = partialOf(state);
  return partial === "" ? [] : [`Partial answer, cut off:\n${cut(sanitize(partial))}`];
}

function parkedLines(state: State): string[] {
  const parked = shownNodes(state).flatMap(({ label, parked: why }) => (why ? [{ label, ...why }] : []));
  const lines = parked.slice(0, MOST_FAULTS).map(({ label, helps, ...parking }) => {
    const when = parkedUntil({ ...parking, helps });
    return [
      `Parked: ${terminalLine(label)}: ${terminalLine(parking.why)}${when === "" ? "" : ` (${when})`}`,
      ...(helps === "" ? [] : [`  ${terminalLine(helps)}`]),
    ].join("\n");
  });
  const more = parked.length - lines.length;
  return more > 0 ? [...lines, `Parked: ${more} more`] : lines;
}

/** The tasks that returned a partial result at a limit. */
function limitsOf(state: State): string[] {
  const cutShort = shownNodes(state).filter(({ outcome, status }) => status === "ok" && outcome?.limit);
  const lines = cutShort.map(({ label, outcome }) => `${terminalLine(label)} ${limitNote(outcome ?? {})}`);
  return lines.length === 0 ? [] : [`Limit: ${lines.join("\n       ")}`];
}

/** The error of each failed task, unless it is the same as the error of the run. */
function faultsOf(state: State): string {
  const why = state.outcome ? explain(state.outcome) : "";
  const faults = [...state.nodes.values()].filter(
    ({ outcome, kind }) => outcome?.status === "failed" && kind !== "join" && explain(outcome) !== why,
  );
  return faults
    .slice(0, MOST_FAULTS)
    .map(({ label, outcome }) => `\n  ${terminalLine(label)}: ${terminalLine(outcome ? explain(outcome) : "")}`)
    .join("");
}

const MOST_FAULTS = 10;

const indented = (text: string): string => sanitize(text).replace(/^/gm, "  ");

function cut(text: string): string {
  const whole = text.trimEnd();
  return whole.length > MOST_RESULT
    ? `${whole.slice(0, MOST_RESULT)}\n[${whole.length - MOST_RESULT} characters more: subcrew result]`
    : whole;
}
