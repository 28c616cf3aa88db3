import { explain } from "../core/outcome/outcome.ts";
import { formatCost } from "../core/outcome/usage.ts";
import type { NodeView, State } from "../core/run/state.ts";
import { sanitize } from "../core/text/sanitize.ts";
import type { Look } from "../core/view/look.ts";
import { nodeTitle, shownNodes } from "../core/view/nodes.ts";
import { took } from "../core/view/words.ts";
import { outputOfRun } from "./output.ts";

/** The result of a run as a Markdown document: a table of its tasks, then the output. */
export function resultMarkdown(state: State, look: Pick<Look, "durations"> = {}): string {
  const title = state.name ?? state.run;
  const rows = tasksOf(state).map(
    (view) => `| ${cell(nodeTitle(view))} | ${statusWords(view)} | ${took(msOf(view), look)} | ${costWords(view)} |`,
  );
  const outcome = state.outcome;
  const why = outcome && outcome.status !== "ok" ? [`**${outcome.status}**: ${sanitize(explain(outcome))}`, ""] : [];
  const table = ["| task | status | time | cost |", "|---|---|---|---|", ...rows, ""];
  return `${[`# ${sanitize(title)}`, "", ...why, ...table, outputOfRun(state)].join("\n").trimEnd()}\n`;
}

/** The result of a run as JUnit XML: one test case per task. */
export function resultJunit(state: State): string {
  const tasks = tasksOf(state);
  const count = (...how: readonly string[]): number => tasks.filter(({ status }) => how.includes(status)).length;
  const seconds = (ms: number): string => (ms / 1_000).toFixed(3);
  const total = Math.max(0, (state.endedAt ?? state.startedAt) - state.startedAt);
  const name = attribute(state.name ?? state.run);
  const cases = tasks.map((view) => {
    const open = `    <testcase name="${attribute(nodeTitle(view))}" classname="${attribute(view.agent ?? view.kind)}" time="${seconds(msOf(view))}">`;
    return `${open}${verdict(view)}</testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `  <testsuite name="${name}" tests="${tasks.length}" failures="${count("failed")}" skipped="${count("skipped", "cancelled", "running")}" time="${seconds(total)}">`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function verdict({ status, outcome }: NodeView): string {
  const said = outcome && "output" in outcome ? (outcome.output ?? "") : "";
  const out = said === "" ? "" : `<system-out>${text(said)}</system-out>`;
  if (status === "ok") return out;
  const why = outcome ? explain(outcome) : "the task did not end";
  if (status !== "failed") return `<skipped message="${attribute(why)}"/>${out}`;
  const code = outcome?.status === "failed" ? outcome.fault.code : "FAILED";
  return `<failure type="${attribute(code)}" message="${attribute(why)}"/>${out}`;
}

/** GitHub annotations: one line for each failed task. */
export function githubAnnotations(state: State): string {
  const escaped = (value: string): string =>
    sanitize(value).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  return tasksOf(state)
    .filter(({ status }) => status === "failed")
    .map((view) => {
      const title = escaped(nodeTitle(view)).replaceAll(":", "%3A").replaceAll(",", "%2C");
      return `::error title=${title}::${escaped(view.outcome ? explain(view.outcome) : "")}\n`;
    })
    .join("");
}

const tasksOf = (state: State): NodeView[] => shownNodes(state).filter(({ kind }) => kind !== "loop");

/** The status, with a remark when the result is not approved or was cut short. */
const statusWords = ({ status, outcome }: NodeView): string =>
  [status, ...(outcome?.approved === false ? ["not approved"] : []), ...(outcome?.limit ? ["cut short"] : [])].join(
    ", ",
  );

/** The cost of a task; empty for a task that never called its model. */
const costWords = ({ usage, cost }: NodeView): string =>
  usage.turns === 0 && usage.estimated === undefined ? "" : formatCost(cost);

const msOf = ({ startedAt, endedAt }: NodeView): number => Math.max(0, (endedAt ?? startedAt) - startedAt);

const cell = (value: string): string => value.replaceAll("|", "\\|");

/** Removes characters that XML 1.0 does not allow. */
const legal = (value: string): string =>
  sanitize(value).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "");

const text = (value: string): string =>
  legal(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const attribute = (value: string): string => text(value).replaceAll('"', "&quot;").replaceAll("\n", "&#10;");
