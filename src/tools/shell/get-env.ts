import { z } from "zod";
import { defineTool, type ToolContext } from "../../core/task/tool.ts";

const input = z.strictObject({
  name: z.string().min(1).max(200).optional().describe("the variable; default: all visible ones"),
});

/**
 * Shows the variables that are passed to commands and the variables that the task set; secrets and all other variables
 * are hidden.
 */
export const getEnv = defineTool({
  name: "get_env",
  description: "Shows one environment variable, or all that this task can see. Keys and other secrets are excluded.",
  input,
  effect: "read",
  does: "none",
  timeoutMs: 1_000,
  run({ name }, context) {
    const seen = visible(context);
    if (name === undefined)
      return (
        [...seen]
          .map(([each, value]) => `${each}=${value}`)
          .toSorted()
          .join("\n") || "[no variable is visible]"
      );
    return seen.get(name) ?? { text: `The variable ${name} is not available here.`, error: true };
  },
});

function visible({ env, desk }: ToolContext): Map<string, string> {
  const passed = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new Map([...passed, ...desk.env]);
}
