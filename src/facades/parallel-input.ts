import { z } from "zod";
import { taskSettings } from "../core/plan/task.ts";
import { isRecord, type JsonSchema } from "../core/text/json.ts";
import { chainInput } from "../modes/chain.ts";
import { parallelInput } from "../modes/parallel.ts";
import { raceInput } from "../modes/race.ts";
import { runSettings } from "../modes/settings.ts";
import { teamInput } from "../modes/team.ts";

const { acceptCommand: _command, ...race } = raceInput.shape.race.shape; // a model must not run commands through a race's acceptance command

/** The parameters of a call of `parallel`: one of five modes, and the settings of tasks and runs. */
export const parallelCall = z.strictObject({
  task: z.string().optional().describe("single: the prompt of one agent"),
  tasks: parallelInput.shape.tasks.optional().describe("parallel: tasks that run at the same time"),
  chain: chainInput.shape.chain
    .optional()
    .describe("chain: steps one after the other; {previous} is the output of the step before"),
  race: z
    .strictObject(race)
    .optional()
    .describe("race: the same task for several agents or models, the first success wins"),
  team: teamInput.shape.team.optional().describe("team: members with roles, tasks with dependencies and reviews"),
  agentScope: z
    .enum(["user", "project", "both"])
    .optional()
    .describe("which agents are used: the user's, the project's or both"),
  ...taskSettings,
  ...runSettings,
});
export type ParallelCall = z.infer<typeof parallelCall>;

/** The arguments of a call without null values and without empty modes: models often fill in all modes. */
export function givenArguments(asked: unknown): unknown {
  if (!isRecord(asked)) return asked ?? {};
  return Object.fromEntries(
    Object.entries(asked).filter(([key, value]) => value !== null && !(MAY_BE_EMPTY.has(key) && isEmpty(value))),
  );
}

const MAY_BE_EMPTY: ReadonlySet<string> = new Set(["task", "tasks", "chain"]);
const isEmpty = (value: unknown): boolean =>
  typeof value === "string" ? value.trim() === "" : Array.isArray(value) && value.length === 0;

/** Parameters of `parallel` that a call may use but that the schema for models omits, to save tokens in every turn. */
const UNTOLD: ReadonlySet<string> = new Set(
  "retry resourceLimits runner cwd schema acceptSchema inputs isolation isolationDirty isolationKeep writes".split(" "),
);

/** Task settings that the schema for models describes once for all tasks. */
const TOLD_ONCE: ReadonlySet<string> = new Set(["thinking", "fork"]);
const FORK = "the agents start from this conversation, not an empty one";

/** The schema for models. It omits the rare settings, and describes the shared settings once at the top. */
export const shownSchema: JsonSchema = slim(z.toJSONSchema(parallelCall, { io: "input" }), true);

function slim(schema: JsonSchema, top: boolean): JsonSchema {
  const told = (name: string): boolean => !UNTOLD.has(name) && (top || !TOLD_ONCE.has(name));
  const one = (name: string, value: unknown): unknown => {
    if (!isRecord(value)) return value;
    if (name === "fork") return { type: "boolean", description: FORK };
    const { description, ...rest } = slim(value, false);
    return description === undefined || (!top && Object.hasOwn(taskSettings, name)) ? rest : { ...rest, description };
  };
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === "$schema" || key === "additionalProperties") return [];
    if (key === "properties" && isRecord(value))
      return [
        [
          key,
          Object.fromEntries(
            Object.entries(value).flatMap(([name, each]) => (told(name) ? [[name, one(name, each)]] : [])),
          ),
        ],
      ];
    if (isRecord(value)) return [[key, slim(value, false)]];
    return [
      [key, Array.isArray(value) ? value.map((each: unknown) => (isRecord(each) ? slim(each, false) : each)) : value],
    ];
  });
  return Object.fromEntries(entries);
}

/** The problems of a call's arguments in one line, at most five. */
export function problemsIn({ issues }: z.ZodError): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`))
    .join("; ");
}
