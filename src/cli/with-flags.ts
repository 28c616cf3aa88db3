import { stat } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { parsePlan } from "../core/check.ts";
import type { ContextOptions } from "../core/context-options.ts";
import { CrewError } from "../core/error.ts";
import type { AnyInput } from "../core/input.ts";
import { isRecord } from "../core/json.ts";
import type { ResourceLimits } from "../core/limits.ts";
import { nearest } from "../core/nearest.ts";
import type { Node, Plan } from "../core/plan.ts";
import type { Task } from "../core/task.ts";
import { thinking, type Thinking } from "../core/thinking.ts";
import { toolNames, toolsNamed } from "../core/tool-names.ts";
import { modeOf, type Mode } from "../modes/compile.ts";
import { defined } from "../modes/settings.ts";
import type { Flags } from "./flags.ts";

/**
 * An input with the flags in it. A flag beats what the input says for all its tasks; what a single task says about
 * itself stays.
 */
export async function withFlags(input: AnyInput, flags: Flags): Promise<AnyInput> {
  const given: Given = {
    settings: settingsIn(flags),
    run: await runIn(flags),
    schema: await schemaIn(flags.schema, "--schema"),
    accept: await schemaIn(flags.acceptSchema, "--accept-schema"),
    flags,
  };
  const mode = modeOf(input);
  if (given.schema && (mode === "team" || mode === "plan")) {
    throw new CrewError(
      "BAD_INPUT",
      `--schema cannot be used for a ${mode}.`,
      "Give the task it is meant for a `schema` in the file.",
    );
  }
  return { ...places[mode](input, given), mode };
}

type Settings = Partial<Pick<Task, "model" | "thinking" | "tools" | "retry" | "resourceLimits">>;
type RunSettings = ContextOptions & { name?: string; maxConcurrency?: number };
type Given = Readonly<{ settings: Settings; run: RunSettings; schema: unknown; accept: unknown; flags: Flags }>;

/** Where each mode keeps what is said about all its tasks. */
const places: Readonly<Record<Mode, (input: AnyInput, given: Given) => Readonly<Record<string, unknown>>>> = {
  single: (input, { settings, run, schema }) => ({
    ...input,
    ...over(input, settings),
    ...run,
    ...defined({ schema }),
  }),
  parallel: (input, { settings, run, schema }) => ({
    ...input,
    ...over(input, settings),
    ...run,
    ...defined({ schema }),
  }),
  chain: (input, { settings, run, schema }) => ({
    ...input,
    ...over(input, settings),
    ...run,
    chain: onLast(input["chain"], defined({ schema })),
  }),
  race: (input, { settings, run, schema, accept, flags: { agents, models } }) => {
    const race = isRecord(input["race"]) ? input["race"] : {};
    return {
      ...input,
      ...run,
      race: {
        ...race,
        ...over(race, settings),
        ...defined({ schema, acceptSchema: accept, agents, models: models?.map(modelName) }),
      },
    };
  },
  team: (input, { settings, run }) => {
    const team =
      isRecord(input["team"]) && run.maxConcurrency !== undefined
        ? { team: { ...input["team"], maxConcurrency: run.maxConcurrency } }
        : {};
    return { ...input, ...over(input, settings), ...run, ...team };
  },
  plan: (input, given) => ({ plan: planWith(parsePlan(input["plan"]), given) }),
};

/** Limits are several matters in one setting, so they are merged one by one. */
function over(input: Readonly<Record<string, unknown>>, settings: Settings): Readonly<Record<string, unknown>> {
  const before = input["resourceLimits"];
  return settings.resourceLimits && isRecord(before)
    ? { ...settings, resourceLimits: { ...before, ...settings.resourceLimits } }
    : settings;
}

function onLast(list: unknown, more: object): unknown {
  if (!Array.isArray(list) || Object.keys(more).length === 0) return list;
  return list.map((item: unknown, index) =>
    index === list.length - 1 && isRecord(item) ? { ...item, ...more } : item,
  );
}

/** In a plan every task speaks for itself, so a flag fills in what a task leaves open. */
function planWith(plan: Plan, { settings, run }: Given): Plan {
  const { name, maxConcurrency, ...context } = run;
  return {
    ...plan,
    nodes: nodesWith(plan.nodes, settings),
    ...(name !== undefined && { name }),
    ...(maxConcurrency !== undefined && { concurrency: maxConcurrency }),
    ...(Object.keys(context).length > 0 && { context: { ...plan.context, ...context } }),
  };
}

function nodesWith(nodes: Readonly<Record<string, Node>>, settings: Settings): Record<string, Node> {
  return Object.fromEntries(
    Object.entries(nodes).map(([id, node]): [string, Node] => {
      if (node.kind === "task")
        return [
          id,
          {
            ...node,
            task: {
              ...settings,
              ...node.task,
              ...over(settings, { ...(node.task.resourceLimits && { resourceLimits: node.task.resourceLimits }) }),
            },
          },
        ];
      if (node.kind === "loop")
        return [id, { ...node, body: { ...node.body, nodes: nodesWith(node.body.nodes, settings) } }];
      return [id, node];
    }),
  );
}

function settingsIn({ model, thinking: level, tools, retry, maxTurns, maxTime }: Flags): Settings {
  const limits: ResourceLimits = defined({
    maxTurns,
    maxDurationMs: maxTime === undefined ? undefined : Math.ceil(maxTime * TASK_SHARE),
  });
  return defined({
    model: model === undefined ? undefined : modelsIn(model),
    thinking: level === undefined ? undefined : thinkingOf(level),
    tools: tools?.flatMap(toolsOf),
    retry: retry && { ...retry },
    resourceLimits: Object.keys(limits).length > 0 ? limits : undefined,
  });
}

/** A task's own time ends a little before the run's, so that it can still hand in what it has. */
const TASK_SHARE = 0.8;

async function runIn({ context, contextFile, gitContext, name, concurrency, cwd }: Flags): Promise<RunSettings> {
  return {
    ...(context !== undefined && { context }),
    ...(contextFile && {
      contextFiles: await Promise.all(contextFile.map((file) => contextPath(file, resolve(cwd ?? ".")))),
    }),
    ...(gitContext && { gitContext }),
    ...(name !== undefined && { name }),
    ...(concurrency !== undefined && { maxConcurrency: concurrency }),
  };
}

/** The path of a file as the run sees it. */
async function contextPath(file: string, workspace: string): Promise<string> {
  const path = relative(workspace, resolve(file));
  const found = await stat(resolve(file)).catch(() => undefined);
  if (!found?.isFile())
    throw new CrewError(
      "BAD_FILE",
      found ? `--context-file: "${file}" is not a file.` : `--context-file: there is no file "${file}".`,
      "Check the path; it starts from the folder you are in.",
    );
  if (!path.startsWith("..") && !isAbsolute(path)) return path;
  throw new CrewError(
    "BAD_FILE",
    `--context-file: "${file}" is outside of the folder that is worked in.`,
    "Choose a folder above it with --cwd, or give its text with --context.",
  );
}

function modelsIn(text: string): string | string[] {
  const names = text.startsWith(SCRIPTED)
    ? [text]
    : text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "");
  const [only, ...more] = names.map(modelName);
  if (only === undefined)
    throw new CrewError("BAD_INPUT", "--model names no model.", "Give one, as in --model offline.");
  return more.length === 0 ? only : [only, ...more];
}

const SCRIPTED = "scripted:";

/** A file on the command line is meant from the folder the person is in, also with --cwd. */
function modelName(name: string): string {
  return name.startsWith(SCRIPTED) ? `${SCRIPTED}${resolve(name.slice(SCRIPTED.length))}` : name;
}

function thinkingOf(text: string): Thinking {
  const parsed = thinking.safeParse(/^\d+$/.test(text) ? Number(text) : text);
  if (parsed.success) return parsed.data;
  throw new CrewError(
    "BAD_INPUT",
    `--thinking cannot be "${text}".`,
    "Give off, minimal, low, medium, high, xhigh, or a number of tokens.",
  );
}

function toolsOf(written: string): readonly string[] {
  const named = toolsNamed(written);
  if (named.length > 0) return named;
  const close = nearest(written, toolNames);
  throw new CrewError(
    "UNKNOWN_TOOL",
    `There is no tool "${written}".`,
    close === undefined
      ? "Known tools: read_file, list_files, glob, grep_files and more; an agent without --tools has its own."
      : `Did you mean "${close}"?`,
  );
}

async function schemaIn(file: string | undefined, flag: string): Promise<unknown> {
  return file === undefined ? undefined : (await import("./read-schema.ts")).readSchema(file, flag);
}
