import { z } from "zod";
import { steersPrograms } from "../../core/secrets/pass-env.ts";
import { defineTool } from "../../core/task/tool.ts";

const MOST = 100;

const input = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, "letters, digits and _, not beginning with a digit")
    .describe("the variable"),
  value: z.string().max(10_000).describe("the value; an empty value removes the variable"),
});

/** Sets an environment variable for this task only. */
export const setEnv = defineTool({
  name: "set_env",
  description:
    "Sets an environment variable for the commands of this task; other tasks do not see it. Variables that decide which programs run cannot be set.",
  input,
  effect: "write",
  does: "none",
  subjects: ({ name }) => [{ kind: "name", name }],
  timeoutMs: 1_000,
  run({ name, value }, { desk }) {
    if (steersPrograms(name))
      throw new Error(`${name} decides which programs run or where they search for files, so it cannot be set`);
    if (value.includes("\0")) throw new Error("a value cannot contain a NUL character");
    if (value === "") {
      desk.env.delete(name);
      return `${name} is no longer set by this task.`;
    }
    if (!desk.env.has(name) && desk.env.size >= MOST) throw new Error(`a task can set at most ${MOST} variables`);
    desk.env.set(name, value);
    return `${name} is set for this task.`;
  },
});
