import { Option } from "commander";
import { isEnded } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";

/** The command `subcrew rm RUN...`. */
export const rm: CliCommand = {
  description: "Deletes runs and everything stored for them. A running run is not deleted.",
  words: "[runs...]",
  usage: "RUN...",
  options: [new Option("--yes", "also delete runs that could be resumed, without asking"), jsonOption()],
  examples: [["subcrew rm run_4k2x nightly", "delete two runs"]],
  act: async (words, flags) => {
    if (words.length === 0)
      throw new CrewError(
        "BAD_INPUT",
        "No run given.",
        "Give the id of the run, the beginning of the id, the name of the run, or `last` for the newest run.",
      );
    const [{ crewFor }, { runIsBusy }] = await Promise.all([
      import("../launch/start.ts"),
      import("../../runtime/background/delete-runs.ts"),
    ]);
    const crew = await crewFor({});
    const ids = await Promise.all(words.map((word) => crew.findRun(word)));
    const looked = await Promise.all(ids.map((id) => crew.kept.look(id)));
    // The state that was read before decides, not the state at the deletion: a running run could pause in between.
    const running = looked.find(({ life, owner }) => owner !== undefined && life !== "paused" && !isEnded(life));
    if (running) throw runIsBusy(running.id);
    const unfinished = looked.filter(({ life }) => !isEnded(life) && life !== "damaged");
    if (unfinished.length > 0 && !flags.yes) {
      const { confirm } = await import("../terminal/confirm.ts");
      const names = unfinished.map(({ id, life }) => `${id} (${life})`).join(", ");
      if (!(await confirm(`These runs can still be resumed: ${names}. Delete them?`, flags))) return 2;
    }
    for (const id of ids) await crew.kept.remove(id);
    process.stdout.write(
      flags.json ? `${jsonText({ removed: ids })}\n` : ids.map((id) => `${id} was deleted.\n`).join(""),
    );
    return 0;
  },
};
