import { lastParking } from "../../core/run/parked-run.ts";
import { openQuestions } from "../../core/run/run-status.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";

/** `subcrew status RUN` */
export const status: CliCommand = {
  description:
    "Shows how far a run is, what it asks, what it cost and how to go on. The same as /task-status in a session.",
  words: "[run]",
  usage: "RUN",
  options: [jsonOption()],
  examples: [
    ["subcrew status run_4k2x", "the beginning of an id is enough"],
    ["subcrew status nightly --json", "by its name, for a program"],
  ],
  act: async ([word], flags) => {
    const [{ findRun }, { statusText, describe, doingOf }, { progressOf }] = await Promise.all([
      import("./find-run.ts"),
      import("../../sinks/status-text.ts"),
      import("../../core/view/nodes.ts"),
    ]);
    const { run } = await findRun(word);
    const { id, life, state, owner, background, place } = run;
    const { usage, cost, startedAt, endedAt, outcome, continues, warnings } = state;
    const facts = {
      id,
      status: life,
      name: state.name,
      description: describe(state),
      background,
      pid: owner?.pid,
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
      questions: openQuestions(state),
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
    process.stdout.write(flags.json ? `${jsonText(facts, 2)}\n` : statusText(state, life, Date.now(), run.problems));
    return 0;
  },
};
