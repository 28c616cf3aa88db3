import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { commandsOf } from "./bash.ts";

const input = z.strictObject({ id: z.string().min(1).describe("id that bash returned") });

/** Ends a background command. */
export const killShell = defineTool({
  name: "kill_shell",
  description: "Stops a background command and everything it started.",
  input,
  aliases: { bash_id: "id", shell_id: "id", task_id: "id" },
  effect: "write",
  does: "none",
  timeoutMs: 10_000,
  async run({ id }, context) {
    const started = (await commandsOf(context)).started();
    const command = started.find((each) => each.id === id);
    if (!command)
      throw new Error(
        `no background command has the id "${id}"${started.length > 0 ? `: known commands are ${started.map((each) => each.id).join(", ")}` : ""}`,
      );
    if (command.result() !== undefined) return `${id} had already ended.`;
    await command.kill();
    return `Stopped ${id}.`;
  },
});
