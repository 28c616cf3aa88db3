import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { commandsOf, told } from "./bash.ts";

const input = z.strictObject({
  id: z.string().min(1).optional().describe("the command, as bash named it; all of them when absent"),
});

/** Shows what commands in the background do. */
export const bashOutput = defineTool({
  name: "bash_output",
  description:
    "Shows what a command in the background printed since the last time, and whether it still runs. Without an id it lists them.",
  input,
  effect: "read",
  does: "none",
  timeoutMs: 5_000,
  async run({ id }, context) {
    const started = (await commandsOf(context)).started();
    if (id === undefined) {
      const rows = started.map(
        (each) =>
          `${each.id}  ${each.result() === undefined ? "running" : "ended"}  ${JSON.stringify(each.command.slice(0, 200))}`,
      );
      return rows.join("\n") || "[nothing was started in the background]";
    }
    const command = started.find((each) => each.id === id);
    if (!command)
      throw new Error(
        `there is no command "${id}"${started.length > 0 ? `: there are ${started.map((each) => each.id).join(", ")}` : ""}`,
      );
    const news = command.news();
    const result = command.result();
    if (result === undefined) return `${news === "" ? "[nothing new]" : news.trimEnd()}\n[it still runs]`;
    return told({ ...result, text: news, cutBytes: 0 }, 0);
  },
});
