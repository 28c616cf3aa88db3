import { formatTokens, type Usage } from "../core/outcome/usage.ts";
import { explain } from "../core/outcome/outcome.ts";
import { answerKind } from "../core/plan/answer-kind.ts";
import { nodeAt } from "../core/plan/graph.ts";
import type { KeptEvent } from "../core/run/event.ts";
import { deniedText } from "../core/run/kept-event.ts";
import { openQuestions } from "../core/run/run-status.ts";
import type { NodeView } from "../core/run/state.ts";
import { progressOf } from "../core/view/nodes.ts";
import { commandFor } from "../core/view/row-actions.ts";
import { cellOf } from "../core/view/row-cells.ts";
import { graphOfRun } from "../core/view/run-graph.ts";
import { rowsOf, runRow, shownEnd, type ShownRun, type TopRow, treeRows } from "../core/view/run-rows.ts";
import { terminalLine } from "../core/view/words.ts";
import type { Asked, LogLine, NeedRow, RunHead, RunRow, TaskRow } from "./client/wire.ts";

/** The maximum length of a text in a row; the transcript has the full text. */
const LONGEST = 300;
const LONGEST_QUESTION = 20_000;

/** The row of a run in the list of all runs. */
export function runRowOf(run: ShownRun): RunRow {
  const { id, state, life } = run;
  const row = runRow(run);
  const { done, total } = progressOf(state);
  const nodes = [...state.nodes.values()];
  const questions = openQuestions(state).filter(({ path }) => !run.answered?.includes(path)).length;
  const need = questions > 0 && row.group === "working";
  return {
    id,
    name: row.name,
    project: state.cwd,
    life,
    group: need ? "needs you" : row.group,
    doing: runDoing(run, row),
    done,
    total,
    agents: distinct(nodes.map(({ agent }) => agent)),
    models: distinct(nodes.map(({ model }) => model)),
    usd: state.cost.usd + (state.cost.estimated ?? 0),
    price: cellOf(row, "price", 0),
    tokens: tokensText(state.usage),
    startedAt: state.startedAt,
    endedAt: shownEnd(run),
    questions,
  };
}

const distinct = (names: readonly (string | undefined)[]): string[] =>
  [...new Set(names.filter((name) => name !== undefined && name !== ""))].slice(0, 6) as string[];

const tokensText = ({ input, output, cacheRead, cacheWrite }: Usage): string => {
  const all = input + output + cacheRead + cacheWrite;
  return all === 0 ? "" : formatTokens(all);
};

/** The current activity of a run: the activity of its working task, or the state of the run. */
function runDoing(run: ShownRun, row: TopRow): string {
  const working = [...run.state.nodes.values()].findLast(
    ({ status, kind, doing }) => status === "running" && kind === "task" && doing !== "",
  );
  const text = row.group === "working" && working ? working.doing : cellOf(row, "doing", 0);
  return terminalLine(text).slice(0, LONGEST);
}

/** Everything in these runs that waits for a person, the oldest first. */
export function needRowsIn(runs: readonly ShownRun[]): NeedRow[] {
  return rowsOf(runs, { one: false, shape: "flat" })
    .filter(({ group, node }) => group === "needs you" && node !== undefined)
    .map((row): NeedRow => {
      const { run, path, node, name, waitsFor } = row;
      return {
        run: run.id,
        path,
        runName: runRow(run).name,
        project: run.state.cwd,
        task: name,
        agent: node?.agent,
        kind: node?.question === undefined ? "parked" : "question",
        question: (node?.question ?? waitsFor).slice(0, LONGEST_QUESTION),
        call: node?.call,
        asked: askedOf(node ?? {}),
        askedAt: node?.askedAt ?? node?.startedAt ?? 0,
        life: run.life,
        command: commandFor(row),
      };
    })
    .toSorted((a, b) => a.askedAt - b.askedAt);
}

const askedOf = (node: Partial<Pick<NodeView, "call" | "wants" | "offersNetwork">>): Asked => ({
  kind: answerKind(node),
  network: node.offersNetwork === true,
});

/** The data of the run as a whole. */
export function headOf(run: ShownRun): RunHead {
  const { state, problems, diffs } = run;
  const { agents: _agents, models: _models, usd: _usd, questions: _questions, ...row } = runRowOf(run);
  const { plan, outcome } = state;
  const result = outcome === undefined ? "" : explain(outcome);
  const join = plan && Object.values(plan.nodes).find((node) => node.kind === "join" && node.pick === "first");
  return {
    ...row,
    seq: state.seq,
    output: plan?.output ?? "",
    result: result.slice(0, 200_000),
    problems,
    warnings: state.warnings.slice(-200),
    offline: state.offline === true,
    continues: state.continues,
    diff: diffs?.get(""),
    race: join?.needs ?? [],
  };
}

/** The tasks of a run in tree order. `heard` has the number of the last event of each task. */
export function taskRowsOf(run: ShownRun, heard: ReadonlyMap<string, number>): TaskRow[] {
  const rows = treeRows(run);
  const { plan, startedAt } = run.state;
  const graph = graphOfRun(run.state);
  const ends = new Map(rows.map(({ path, node }) => [path, node?.endedAt]));
  return rows.map((row): TaskRow => {
    const { path, node, parent, depth, name, group } = row;
    const question = node?.status === "running" && !run.answered?.includes(path) ? node.question : undefined;
    const needs = graph.get(path) ?? [];
    const doing = cellOf(row, "doing", 0);
    const text = node?.status === "running" ? node.text || node.partial : "";
    const ready = needs.length === 0 ? [startedAt] : needs.map((need) => ends.get(need) ?? 0);
    return {
      path,
      parent,
      depth,
      name: name.slice(0, LONGEST),
      kind: node?.kind ?? (plan && nodeAt(plan, path)?.kind) ?? "task",
      agent: cellOf(row, "agent", 0),
      model: cellOf(row, "model", 0),
      group,
      status: node?.status ?? "planned",
      doing: `${group === "waiting" && doing.startsWith("for ") ? "waits " : ""}${doing}`.slice(0, LONGEST),
      turns: cellOf(row, "turns", 0),
      context: cellOf(row, "context", 0),
      tokens: cellOf(row, "tokens", 0),
      price: cellOf(row, "price", 0),
      startedAt: node?.startedAt,
      endedAt: node && shownEnd(run, node),
      readyAt: node === undefined || parent !== "" ? undefined : Math.min(node.startedAt, Math.max(...ready)),
      needs,
      question: question?.slice(0, LONGEST_QUESTION),
      call: node?.call,
      asked: question === undefined || !node ? undefined : askedOf(node),
      diff: run.diffs?.get(path),
      seq: heard.get(path) ?? 0,
      text: text.slice(-2_000),
    };
  });
}

/** A recorded event as a sentence. */
export function logLineOf(event: KeptEvent): LogLine {
  const { seq, at, path, type } = event;
  return { seq, at, path, type, text: terminalLine(wordsOf(event)).slice(0, LONGEST) };
}

function wordsOf(event: KeptEvent): string {
  switch (event.type) {
    case "node.started":
      return event.prompt ?? event.label ?? "";
    case "node.ended":
    case "run.ended":
      return `${event.outcome.status}: ${explain(event.outcome)}`;
    case "tool.started":
      return `${event.tool} ${event.preview}`;
    case "tool.ended":
      return `${event.tool}: ${event.text}`;
    case "tool.denied":
      return `${event.tool}: ${deniedText(event)}`;
    case "tool.rejected":
    case "tool.unknown":
      return `${event.tool}: ${event.text}`;
    case "gate.opened":
      return event.question;
    case "gate.answered":
      return `${event.answer.approve ? "allowed" : "denied"}${event.answer.by === undefined ? "" : ` by ${event.answer.by}`}`;
    case "turn.started":
      return `turn ${event.turn}, ${event.model}`;
    case "agent.resolved":
      return `${event.agent}, ${event.model}`;
    case "node.parked":
      return event.why;
    case "run.paused":
      return event.reason;
    default:
      return "text" in event ? event.text : "";
  }
}
