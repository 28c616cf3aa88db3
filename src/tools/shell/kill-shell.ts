import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { commandsOf } from "./bash.ts";

const input = z.strictObject({ id: z.string().min(1).describe("the command, as bash named it") });

/** Ends a command in the background. */
export const killShell = defineTool({
  name: "kill_shell",
  description: "Ends a command that runs in the background, with everything it started.",
  input,
  effect: "write",
  does: "none",
  timeoutMs: 10_000,
  async run({ id }, context) {
    const started = (await commandsOf(context)).started();
    const command = started.find((each) => each.id === id);
    if (!command)
      throw new Error(
        `there is no command "${id}"${started.length > 0 ? `: there are ${started.map((each) => each.id).join(", ")}` : ""}`,
      );
    if (command.result() !== undefined) return `${id} had already ended.`;
    await command.kill();
    return `Ended ${id}.`;
  },
});
