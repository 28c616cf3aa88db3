import { toolNameStyles } from "../core/vocabulary/tool-name-styles.ts";
import { z } from "zod";
import { agentNumbers } from "../core/agent/agent-numbers.ts";
import { permissions } from "../core/policy/permissions.ts";
import { runParameters } from "../core/run/run-parameters.ts";
import { parseAs } from "../core/schema/parse.ts";
import { isRecord } from "../core/text/json.ts";
import type { CrewOptions } from "./outfit/options.ts";
import type { ResumeOptions } from "./prepare/run-options.ts";

const anything = z.unknown().optional();
const text = z.string().optional();
const flag = z.boolean().optional();
const texts = z.array(z.string()).optional();
const table = z.record(z.string(), z.unknown()).optional();
const objects = z.record(z.string(), z.looseObject({})).optional();
const code = z.custom((value) => typeof value === "function", "it has to be a function");
const model = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional();

/**
 * The options of a crew, as far as a caller without type checking can pass wrong values. The content of each option is
 * checked where it is used.
 */
const crewOptions = z.strictObject({
  cwd: text.describe("the folder in which agents work"),
  home: z
    .union([z.string().min(1), z.literal(false)])
    .optional()
    .describe("the folder in which runs are kept, or false to keep nothing"),
  userHome: text.describe("the home folder in which your own agents are searched for"),
  engine: z.string().min(1).optional(),
  env: table.describe("the environment variables"),
  trusted: flag.describe("whether the project's own agents may run"),
  discover: flag.describe("false: only the given and the bundled agents exist"),
  config: z
    .union([z.literal(true), z.record(z.string(), z.unknown())])
    .optional()
    .describe("settings, or true to read those of the user"),
  agents: z
    .array(
      z.looseObject({ name: z.string().min(1), description: z.string(), instructions: z.string(), ...agentNumbers }),
    )
    .optional()
    .describe("agents made by defineAgent"),
  tools: z
    .array(z.looseObject({ name: z.string().min(1), description: z.string(), run: code }))
    .optional()
    .describe("tools made by defineTool"),
  toolModules: texts.describe("modules that export tools"),
  models: z
    .record(
      z.string(),
      z.custom(
        (value) => typeof value === "function" || isRecord(value),
        "it has to be a model: a function or an object",
      ),
    )
    .optional()
    .describe("models by name"),
  model: model.describe("the name of a model, or several in order of preference"),
  providers: objects.describe("settings of model providers by name"),
  tiers: z
    .record(z.string(), z.union([z.string(), z.array(z.string()), z.looseObject({}), z.undefined()]))
    .optional()
    .describe("the models of fast, balanced and powerful"),
  permissions: permissions.optional().describe("permissions of agents"),
  secrets: texts.describe("values that are redacted everywhere"),
  network: table.describe("what the network tools may reach"),
  webSearch: table.describe("the search engine behind web_search"),
  mcpServers: objects.describe("MCP servers by name"),
  passEnv: texts.describe("names of variables that commands may see"),
  schemaPrecedence: z.enum(["agent", "call"]).optional(),
  delegation: z.enum(["own", "ceiling"]).optional(),
  callersMayChoose: flag.describe("whether an agent that starts another may choose its model"),
  output: table.describe("how much of outputs is kept and shown"),
  delegationTools: texts.describe("the delegation tools of agents whose files name none"),
  toolNames: z.enum(toolNameStyles).optional().describe("the tool names that models see"),
  projectInstructions: flag.describe("false: agents do not read the project's instructions"),
  diagnostics: table.describe("a command that checks the project"),
  concurrency: runParameters.shape.concurrency,
  unattended: runParameters.shape.unattended,
  clock: code.optional().describe("a function that returns the time in milliseconds"),
  random: code.optional().describe("a function that returns a random number from 0 to 1"),
} satisfies Readonly<Record<keyof CrewOptions, z.ZodType>>);

const runOptions = z.strictObject({
  ...runParameters.shape,
  signal: z
    .custom((value) => value instanceof AbortSignal, "it has to be an AbortSignal")
    .optional()
    .describe("an AbortSignal that cancels the run"),
  continued: anything,
  ownProcess: flag,
  id: text.describe("the id of the new run"),
  outliving: anything,
  parent: anything,
  deck: anything,
  force: flag.describe("true: take the run over from another machine"),
  retryFailed: flag.describe("true: also retry failed tasks"),
  task: text.describe("the path of the only task that continues"),
} satisfies Readonly<Record<keyof ResumeOptions, z.ZodType>>);

/** Throws for an unknown option of a crew, and for an option of the wrong type. */
export function checkCrewOptions(given: CrewOptions): void {
  parseAs(crewOptions, given, { code: "BAD_INPUT", what: "options object of createCrew" });
}

/** Throws for an unknown option of a run, and for an option of the wrong type. */
export function checkRunOptions(given: ResumeOptions): void {
  parseAs(runOptions, given, { code: "BAD_INPUT", what: "options object of the run" });
}
