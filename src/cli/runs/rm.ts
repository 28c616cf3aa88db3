import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";

/** `subcrew rm RUN...` */
export const rm: CliCommand = {
  description: "Takes runs away with everything that was kept of them. One that is running is refused.",
  words: "[runs...]",
  usage: "RUN...",
  options: [jsonOption()],
  examples: [["subcrew rm run_4k2x nightly", "two of them"]],
  act: async (words, flags) => {
    if (words.length === 0)
      throw new CrewError("BAD_INPUT", "No run given.", "Give its id, the beginning of it, or its name.");
    const { crewFor } = await import("../launch/start.ts");
    const crew = await crewFor({});
    const ids = await Promise.all(words.map((word) => crew.findRun(word)));
    for (const id of ids) await crew.kept.remove(id);
    process.stdout.write(
      flags.json ? `${jsonText({ removed: ids })}\n` : ids.map((id) => `${id} was deleted.\n`).join(""),
    );
    return 0;
  },
};
