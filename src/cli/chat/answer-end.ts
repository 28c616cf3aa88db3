import { relative } from "node:path";
import { explain } from "../../core/outcome/outcome.ts";
import { changedFiles } from "../../core/run/changed-files.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { State } from "../../core/run/state.ts";
import type { Look } from "../../core/view/look.ts";
import { counted, listed, spentInAll, terminalLine, took } from "../../core/view/words.ts";
import { diffCounts } from "../../tui/chat/diff-counts.ts";

const MOST_FILES = 5;

/** The lines below an answer: the reason if there is no answer, the changed files, time and cost. */
export function endLines(state: State, events: readonly KeptEvent[], look: Look): string[] {
  const { colors } = look;
  const { files } = changedFiles(events);
  const counts = diffCounts(events);
  const ms = Math.max(0, (state.endedAt ?? events.at(-1)?.at ?? state.startedAt) - state.startedAt);
  const agents = [...state.nodes.values()].filter(({ path, kind }) => kind === "task" && path.includes("/")).length;
  const shown = files.slice(0, MOST_FILES).map(({ file }) => {
    const path = relative(state.cwd, file);
    const lines = counts.get(path);
    return `${terminalLine(path)}${lines ? ` ${colors.green(`+${lines.added}`)} ${colors.red(`-${lines.removed}`)}` : ""}`;
  });
  return [
    ...statusLines(state, look),
    ...(files.length > 0
      ? [
          `changed: ${[...shown, ...(files.length > MOST_FILES ? [`${files.length - MOST_FILES} more`] : [])].join(", ")}`,
        ]
      : []),
    colors.dim(
      listed(
        [took(ms, look), agents > 0 ? counted(agents, "agent") : "", ...spentInAll(state.usage, state.cost), state.run],
        look,
      ),
    ),
  ];
}

function statusLines({ status, outcome, nodes }: State, { colors }: Look): string[] {
  if (status === "paused") {
    const helpers = [...nodes.values()].filter(
      ({ path, status: how }) => path.includes("/") && how === "running",
    ).length;
    const what = helpers > 0 ? `The answer and ${counted(helpers, "agent")} are stopped` : "The answer is stopped";
    return [colors.yellow(`${what}. /resume continues the answer; a new message replaces it.`)];
  }
  if (!outcome || outcome.status === "ok") return [];
  const hint =
    outcome.status === "failed" && outcome.fault.hint !== undefined ? ` ${terminalLine(outcome.fault.hint)}` : "";
  const color = outcome.status === "failed" ? colors.red : colors.yellow;
  return [`${color(outcome.status)}  ${terminalLine(explain(outcome))}${hint}`];
}
