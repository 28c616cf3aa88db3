import { outputText, exitCodeOf, explain } from "../../core/outcome/outcome.ts";
import { exitCodeOfRun, partialOf, resultOf } from "../../core/run/result.ts";
import { isEnded } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import { resultText } from "../terminal/result-text.ts";

/** The command `subcrew result RUN`. */
export const result: CliCommand = {
  description: "Prints the result of a run or of one of its tasks. The exit code is that of the run.",
  words: "[run]",
  usage: "RUN[/TASK]",
  options: [jsonOption()],
  examples: [
    ["subcrew result nightly", "the result of a run"],
    ["subcrew result run_4k2x/build", "the result of one task of a run"],
  ],
  act: async ([word], flags) => {
    const [{ findRun, warnOfDamage }, { outputOfRun }] = await Promise.all([
      import("./find-run.ts"),
      import("../../sinks/output.ts"),
    ]);
    const { run, path } = await findRun(word);
    const { id, state, life } = run;
    warnOfDamage(run);
    const outcome = path === undefined ? state.outcome : state.nodes.get(path)?.outcome;
    if (!outcome || (path === undefined && !isEnded(life))) {
      const idle = life === "interrupted" || life === "paused" || life === "damaged";
      const partial = idle ? (path === undefined ? partialOf(state) : (state.nodes.get(path)?.partial ?? "")) : "";
      const hint =
        life === "damaged"
          ? `The journal of the run is damaged: see \`subcrew logs ${id}\`.`
          : idle
            ? `Resume the run: \`subcrew resume ${id}\`.`
            : `Wait for the result: \`subcrew wait ${id}\`.`;
      if (partial === "") throw new CrewError("RUN_UNFINISHED", `"${word}" has no result yet.`, hint);
      process.stdout.write(
        flags.json ? `${jsonText({ id, status: life, partial })}\n` : resultText(`${sanitize(partial).trimEnd()}\n`),
      );
      if (!flags.json) process.stderr.write(`partial: the answer was cut off (${life}). ${hint}\n`);
      return 1;
    }
    if (flags.json) process.stdout.write(`${jsonText(path === undefined ? resultOf(state) : outcome)}\n`);
    else {
      const output = path === undefined ? outputOfRun(state).trimEnd() : "";
      process.stdout.write(resultText(`${output === "" ? sanitize(outputText(outcome)).trimEnd() : output}\n`));
    }
    if (!flags.json && outcome.status !== "ok")
      process.stderr.write(`${outcome.status}: ${sanitize(explain(outcome))}\n`);
    return path === undefined ? exitCodeOfRun(state) : exitCodeOf(outcome);
  },
};
