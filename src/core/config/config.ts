import { z } from "zod";
import { agentNumbers } from "../agent/agent-numbers.ts";
import { permissions } from "../policy/permissions.ts";
import { runLimits } from "../run/run-parameters.ts";
import { spendingCaps } from "../run/spending-caps.ts";
import { facadeNames } from "../vocabulary/delegation-names.ts";
import { resourceLimits } from "../vocabulary/limits-schema.ts";
import { mcpServers } from "../vocabulary/mcp-server.ts";
import { thinking } from "../vocabulary/thinking.ts";
import { tierNames } from "../vocabulary/tiers.ts";
import { toolNameStyles } from "../vocabulary/tool-name-styles.ts";
import { hooks } from "./hooks.ts";

const models = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
const names = z.array(z.string().min(1));
const count = z.number().int().positive();

const tier = z.union([
  ...models.options,
  z.strictObject({
    model: models.describe("the model, or several in order of preference"),
    contextWindow: count.optional().describe("the context window of these models in tokens, where it is not known"),
  }),
]);
const tierModels = tier
  .optional()
  .describe("the model of this tier, or several in order of preference, or an object with `model` and `contextWindow`");

/** Settings of one agent, independent of where its file is. */
const agent = z.strictObject({
  enabled: z.boolean().optional().describe("false: the agent is listed but cannot be started"),
  model: models.optional().describe("the model, or several in order of preference"),
  thinking: agentNumbers.thinking,
  tools: z.array(z.string()).optional().describe("tools of the agent, replacing those of its file"),
  disallowedTools: z.array(z.string()).optional().describe("tools to remove"),
  limits: agentNumbers.limits,
  cacheMs: agentNumbers.cacheMs,
  projectInstructions: z
    .enum(["on", "off"])
    .optional()
    .describe("whether the agent reads the project's instructions (AGENTS.md, CLAUDE.md, GEMINI.md)"),
  temperature: agentNumbers.temperature,
  topP: agentNumbers.topP,
});

const dollars = z.number().nonnegative();

const price = z.strictObject({
  input: dollars.describe("dollars per million input tokens"),
  output: dollars.describe("dollars per million output tokens"),
  cacheRead: dollars.optional().describe("dollars per million tokens read from the cache"),
  cacheWrite: dollars.optional().describe("dollars per million tokens written to the cache"),
});

const provider = z.strictObject({
  type: z
    .enum(["openai", "openai-responses", "anthropic", "google"])
    .optional()
    .describe("protocol of the provider's API"),
  baseURL: z.string().optional().describe("base URL of the provider's API"),
  apiKey: z.string().optional().describe("API key; better kept in an environment variable, see apiKeyEnv"),
  apiKeyEnv: z.string().optional().describe("name of the environment variable that holds the API key"),
  headers: z.record(z.string(), z.string()).optional().describe("headers added to every request"),
  silenceMs: count.optional().describe("idle timeout: how long the provider may send nothing, in milliseconds"),
  prices: z.record(z.string(), price).optional().describe("prices by model name; * matches every model"),
});

/**
 * The version of settings files that this version of subcrew reads. Files written for 0.1 have no version number and
 * are read as this version.
 */
export const CONFIG_VERSION = 1;

/**
 * Everything that can be set in a file or by a variable. Documents and error messages are generated from this schema.
 */
export const config = z.strictObject({
  telemetry: z
    .strictObject({
      otlp: z.url({ protocol: /^https?$/ }).describe("address of an OpenTelemetry receiver (OTLP over HTTP)"),
      content: z
        .boolean()
        .optional()
        .describe("true: spans contain prompts, answers, arguments and results (default: false)"),
    })
    .optional()
    .describe("export runs as OpenTelemetry spans (default: off)"),
  on: hooks
    .optional()
    .describe(
      "command for /bin/sh, or address that gets a POST, at an event of a run: `needs-you` or a type in docs/events.md, such as `on.run.ended` (default: none)",
    ),
  model: models.optional().describe("default model, or several in order of preference"),
  tiers: z
    .strictObject(Object.fromEntries(tierNames.map((name) => [name, tierModels])) as Tiers)
    .optional()
    .describe("models of each tier"),
  providers: z
    .record(z.string(), provider)
    .optional()
    .describe(
      "addresses, keys and headers of model providers; a name that is not built in defines a provider of your own",
    ),
  defaults: z
    .strictObject({
      thinking: thinking.optional().describe("thinking level"),
      limits: resourceLimits.optional().describe("limits on time, turns and tool calls"),
    })
    .optional()
    .describe("defaults for agents that do not set them"),
  schemaPrecedence: z
    .enum(["agent", "call"])
    .optional()
    .describe("which output schema is used when both exist: the agent's (default) or the one of the call"),
  delegation: z
    .enum(["own", "ceiling"])
    .optional()
    .describe(
      "tools of an agent that another one starts: those of its own file (own, default) or at most its parent's (ceiling)",
    ),
  delegationTools: z
    .array(z.enum(facadeNames))
    .min(1)
    .optional()
    .describe("delegation tools of agents whose file lists none, and of subcrew's own agents (default: task)"),
  toolNames: z
    .enum(toolNameStyles)
    .optional()
    .describe(
      "names under which models see tools: those of subcrew (canonical, default) or those of another program (claude, gemini, ...)",
    ),
  durations: z
    .enum(["tight", "spaced"])
    .optional()
    .describe(
      "how the command writes durations: 1m30s (tight) or 1m 30s (spaced); by default ages are spaced and the rest is tight",
    ),
  references: z
    .enum(["parallel", "serial"])
    .optional()
    .describe(
      "when tasks refer to each other: only tasks with references wait (parallel, default), or tasks run one at a time (serial)",
    ),
  output: z
    .strictObject({
      summaryChars: count
        .optional()
        .describe(
          "how many characters of a result are passed to the agent that asked for it (default 24000, or less if its context window is small)",
        ),
      summaryCut: z
        .enum(["simple", "smart"])
        .optional()
        .describe(
          "keep only the beginning of a longer result: exactly summaryChars characters (simple), or up to a paragraph or sentence (smart); by default its beginning and end are kept, at whole lines",
        ),
      box: z.boolean().optional().describe("results of the tool Task end with a box of agent, task, model and usage"),
      maxBytes: count.optional().describe("how many bytes of a tool's result a model reads (default 51200)"),
      maxLines: count.optional().describe("how many lines of a tool's result a model reads (default 2000)"),
    })
    .optional()
    .describe("limits on how much of an output is shown or passed on; the full output is always kept in a file"),
  models: z
    .strictObject({
      callersMayChoose: z
        .boolean()
        .optional()
        .describe("whether an agent that starts another may choose its model (default true)"),
    })
    .optional()
    .describe("how models are chosen"),
  limits: resourceLimits.optional().describe("limits that no task may exceed, whatever its agent file says"),
  ...runLimits.shape,
  spending: spendingCaps.optional().describe("limits for all runs together, across processes"),
  background: z
    .strictObject({
      maxRuns: count.optional().describe("how many runs may run in the background at once"),
    })
    .optional()
    .describe("runs in the background"),
  runs: z
    .strictObject({
      keepDays: z
        .number()
        .nonnegative()
        .optional()
        .describe("how long ended runs are kept, in days (default 30); 0: for ever"),
    })
    .optional()
    .describe("kept runs and their transcripts"),
  resume: z
    .strictObject({
      expiresAfterDays: z
        .number()
        .positive()
        .optional()
        .describe("how many days after its end a task may still be continued"),
      maxContinuations: count.optional().describe("how many times a finished task may be continued"),
    })
    .optional()
    .describe("continuing a finished task"),
  engine: z
    .string()
    .min(1)
    .optional()
    .describe("address of the engine that keeps runs and gives tasks to workers, as in postgres://user@host/database"),
  permissions: permissions.optional().describe("permissions of agents"),
  agents: z.record(z.string(), agent).optional().describe("overrides for single agents, by name"),
  disabled: names.optional().describe("disabled agents"),
  preset: z
    .enum(["unified", "omp", "pegasus", "mycode", "pi-parallel", "gemini"])
    .optional()
    .describe("behave like this program: where it searches for agents, its limits, delegation tools and output sizes"),
  scope: z
    .enum(["user", "project", "both"])
    .optional()
    .describe("which agents are used: the user's, the project's or both"),
  order: z
    .enum(["family-first", "scope-first"])
    .optional()
    .describe(
      "precedence of agents of the same name: by program, and within one project before user (family-first, default), or all project folders before all user folders (scope-first)",
    ),
  protectBundled: z.boolean().optional().describe("true: no file replaces a bundled agent"),
  modules: names.optional().describe("modules (.js, .mjs, .ts) that define agents; their code runs in this process"),
  passEnv: names.optional().describe("environment variables that tasks get besides PATH, HOME and similar ones"),
  diagnostics: z
    .strictObject({
      command: z
        .string()
        .min(1)
        .describe("command that checks the project, e.g. npx tsc --noEmit; it runs in the task's folder"),
      agents: names.optional().describe("agents that get the checker's output after they change files; default: code"),
      timeoutMs: count.optional().describe("timeout in milliseconds"),
    })
    .optional()
    .describe("a checker that runs after edits"),
  network: z
    .strictObject({
      allowHosts: names.optional().describe("non-public hosts that may be contacted, e.g. 127.0.0.1:8080"),
      proxy: z
        .string()
        .optional()
        .describe("proxy for all requests, in place of HTTPS_PROXY and HTTP_PROXY; NO_PROXY still applies"),
      caFile: z
        .string()
        .optional()
        .describe("PEM file with certificate authorities to trust besides the usual ones and those of SSL_CERT_FILE"),
    })
    .optional()
    .describe("proxy, certificates, and access of the network tools beyond the public internet"),
  mcpServers: mcpServers
    .optional()
    .describe("MCP servers whose tools agents may use, by name; the name is the prefix of the tools"),
  webSearch: z
    .strictObject({
      backend: z.enum(["searxng", "brave", "tavily"]).describe("search engine"),
      url: z.string().optional().describe("URL of the search engine; SearXNG has no default"),
      keyEnv: z
        .string()
        .optional()
        .describe("name of the environment variable that holds the key of the search engine"),
    })
    .optional()
    .describe("the search engine behind web_search"),
});
export type Config = z.infer<typeof config>;
type Tiers = Record<(typeof tierNames)[number], z.ZodOptional<typeof tier>>;

/** The path of a value: `["agents", "scout", "model"]`. */
export type ConfigPath = readonly string[];

/** Keys that the file of a trusted project may set. These keys can only restrict what agents may do. */
export const projectKeys: ReadonlySet<string> = new Set([
  "concurrency",
  "limits",
  "budget",
  "spending",
  "maxTimeMs",
  "maxDepth",
  "disabled",
  "permissions.mode",
  "permissions.ask",
  "permissions.deny",
  "permissions.sandbox",
  "agents.*.enabled",
  "agents.*.tools",
  "agents.*.disallowedTools",
  "agents.*.limits",
  "mcpServers.*.enabled",
  "mcpServers.*.tools",
]);

/** Keys of settings whose children are names that the user chooses, such as names of agents. */
const BY_NAME: ReadonlySet<string> = new Set(["agents", "mcpServers"]);

/** True for a key that a project's settings file may set. */
export function isProjects(path: ConfigPath): boolean {
  const first = path[0] ?? "";
  const general = BY_NAME.has(first) ? [first, "*", ...path.slice(2)] : path;
  return general.some((_, at) => projectKeys.has(general.slice(0, at + 1).join(".")));
}
