import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { commandsOf, told } from "./bash.ts";

const input = z.strictObject({
  id: z.string().min(1).optional().describe("id that bash returned; default: all"),
});

/** Shows the output of background commands. */
export const bashOutput = defineTool({
  name: "bash_output",
  description:
    "Shows the new output of a background command and whether it is still running. Without an id, lists the commands.",
  input,
  aliases: { bash_id: "id", shell_id: "id", task_id: "id" },
  effect: "read",
  does: "none",
  polls: true,
  timeoutMs: 5_000,
  async run({ id }, context) {
    const started = (await commandsOf(context)).started();
    if (id === undefined) {
      const rows = started.map(
        (each) =>
          `${each.id}  ${each.result() === undefined ? "running" : "ended"}  ${JSON.stringify(each.command.slice(0, 200))}`,
      );
      return rows.join("\n") || "[no command was started in the background]";
    }
    const command = started.find((each) => each.id === id);
    if (!command)
      throw new Error(
        `no background command has the id "${id}"${started.length > 0 ? `: known commands are ${started.map((each) => each.id).join(", ")}` : ""}`,
      );
    const news = command.news();
    const result = command.result();
    if (result === undefined)
      return `${news === "" ? "[nothing new]" : news.trimEnd()}\n[the command is still running]`;
    return told({ ...result, text: news, cutBytes: 0 }, 0);
  },
});
