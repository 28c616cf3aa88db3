import { lastParking } from "../../core/run/parked-run.ts";
import { openQuestions } from "../../core/run/run-status.ts";
import { formatCost } from "../../core/outcome/usage.ts";
import type { State } from "../../core/run/state.ts";
import { nodeTitle, shownNodes } from "../../core/view/nodes.ts";
import { type Look, stateColor } from "../../core/view/look.ts";
import { terminalLine } from "../../core/view/words.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CliCommand } from "../base/command.ts";
import { colorOption, jsonOption } from "../base/flags.ts";

/** The command `subcrew status RUN`. */
export const status: CliCommand = {
  description: "Shows a run's progress, open questions, cost and the next command. Same as /task-status in a chat.",
  words: "[run]",
  usage: "RUN",
  options: [jsonOption(), colorOption()],
  examples: [
    ["subcrew status run_4k2x", "the beginning of an id is enough"],
    ["subcrew status nightly --json", "by its name, for a program"],
  ],
  act: async ([word], flags) => {
    const [{ findRun }, { statusText, doingOf }, { describe, progressOf }, { stdoutLook }] = await Promise.all([
      import("./find-run.ts"),
      import("../../sinks/status-text.ts"),
      import("../../core/view/nodes.ts"),
      import("../base/terminal.ts"),
    ]);
    const { crew, run } = await findRun(word);
    const { id, life, state, owner, background, place } = run;
    const { usage, cost, startedAt, endedAt, outcome, continues, warnings } = state;
    const facts = {
      id,
      status: life,
      name: state.name,
      description: describe(state),
      background,
      pid: owner?.pid,
      host: owner?.host,
      pidNamespace: owner?.pidNamespace,
      folder: place,
      startedAt,
      endedAt,
      ...progressOf(state),
      doing: doingOf(state),
      usage,
      cost,
      outcome,
      continues,
      warnings,
      problems: run.problems,
      questions: openQuestions(state).map((one) => ({ ...one, answered: run.answered.includes(one.path) })),
      parked: lastParking(state),
      tasks: [...state.nodes.values()].map(
        ({ path, kind, agent, model, status: how, attempt, doing, outcome: own, parked }) => ({
          path,
          kind,
          agent,
          model,
          status: how,
          attempt,
          doing,
          ...defined({ approved: own?.approved, limit: own?.limit, parked }),
        }),
      ),
    };
    const look = stdoutLook(flags, crew.settings.config);
    if (flags.json) process.stdout.write(`${jsonText(facts, 2)}\n`);
    else {
      process.stdout.write(
        statusText(state, life, Date.now(), { problems: run.problems, answered: run.answered, look }),
      );
      process.stdout.write(taskLines(state, look));
      for (const warning of new Set(warnings))
        process.stdout.write(`\n${look.colors.yellow("warning:")} ${terminalLine(warning)}\n`);
    }
    return 0;
  },
};

/**
 * One line for each task of a run with several tasks: its state, its current activity or what it waits for, and its
 * cost.
 */
function taskLines(state: State, look: Look): string {
  const tasks = shownNodes(state);
  if (tasks.length < 2) return "";
  const width = Math.max(...tasks.map((view) => nodeTitle(view).length));
  const lines = tasks.map((view) => {
    const { status: how, parked, question, doing, cost, usage, outcome } = view;
    const busy = how === "running" ? doing : "";
    const waits = question !== undefined ? "asks a question" : parked ? `parked: ${parked.why}` : busy;
    const marks = [
      ...(outcome?.approved === false ? ["not approved"] : []),
      ...(outcome?.limit ? ["cut short"] : []),
      ...(usage.turns === 0 ? [] : [formatCost(cost)]),
    ];
    const rest = [terminalLine(waits), ...marks].filter((part) => part !== "").join(", ");
    return `  ${stateColor(look, how)(how.padEnd(9))}  ${nodeTitle(view).padEnd(width)}  ${rest}`.trimEnd();
  });
  return `\nTasks:\n${lines.join("\n")}\n`;
}
