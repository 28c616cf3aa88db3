import { isAbsolute, resolve } from "node:path";
import { z } from "zod";
import { needsOf } from "../core/plan/graph.ts";
import type { AnyInput } from "../core/plan/input.ts";
import type { Body, Node, Plan } from "../core/plan/plan.ts";
import { runParameters } from "../core/run/run-parameters.ts";
import { parseAs } from "../core/schema/parse.ts";
import { isRecord, ownEntry } from "../core/text/json.ts";
import { jsonText } from "../core/text/json-text.ts";
import { shellWord } from "../core/text/shell-word.ts";
import type { Crew } from "../crew/crew-type.ts";
import { inputOf, type Mode, modeNames, modeOf, modeWords, unchecked } from "../modes/compile.ts";
import type { FormSchema, PlannedNode, PlanPreview, StartOptions } from "./client/wire.ts";
import { badInput } from "./responses.ts";

/** The run options that the form for a new run shows; the other options are for programs only. */
const offered = runParameters.pick({
  name: true,
  maxTimeMs: true,
  budget: true,
  maxDepth: true,
  onLimit: true,
  onProviderFault: true,
  reuse: true,
  strict: true,
  unattended: true,
  projectInstructions: true,
});

/** Converts a zod schema to the form schema. */
const formSchemaOf = (schema: z.ZodType): FormSchema => z.toJSONSchema(schema, { io: "input" }) as FormSchema;

/** The modes with a command of their own; `subcrew run` takes inputs of all modes. */
const OWN_COMMAND: ReadonlySet<Mode> = new Set(["parallel", "chain", "race", "team"]);
const commandOf = (mode: Mode): string => (OWN_COMMAND.has(mode) ? mode : "run");

/** The data of the form for a new run: the schemas that the command line uses, and the agents. */
export async function startOptions(crew: Crew, projects: readonly string[]): Promise<StartOptions> {
  const [{ agents }, models] = await Promise.all([crew.agents(), crew.models().catch(() => undefined)]);
  return {
    modes: modeNames
      .filter((mode) => mode !== "plan")
      .map((mode) => ({
        mode,
        command: commandOf(mode),
        what: modeWords(mode),
        schema: formSchemaOf(inputOf(mode)),
      })),
    options: formSchemaOf(offered),
    agents: agents.map(({ name, agent }) => ({ name, description: crew.masked(agent.description).slice(0, 300) })),
    models: models ? modelNames(models) : [],
    projects: [...new Set([crew.cwd, ...projects])],
    cwd: crew.cwd,
  };
}

const modelNames = ({ tiers, shortcuts }: Awaited<ReturnType<Crew["models"]>>): string[] =>
  [...tiers, ...shortcuts].flatMap(({ name, model }) => (model === undefined ? [] : [name]));

export type StartRequest = Readonly<{ cwd: string; input: AnyInput; options: Readonly<Record<string, unknown>> }>;

/** Validates the data of the form. */
export function startRequestOf(body: unknown, fallback: string): StartRequest {
  if (!isRecord(body) || !isRecord(body["input"])) throw badInput("The input is missing.", "Fill in the form.");
  const { cwd = fallback, input, options = {} } = body;
  if (typeof cwd !== "string") throw badInput("The folder must be a text.", "Choose a folder.");
  if (!isAbsolute(cwd)) throw badInput("The folder must be an absolute path.", "Write the whole path of the project.");
  const checked = parseAs<Record<string, unknown>>(offered, options, { code: "BAD_INPUT", what: "options of the run" });
  return { cwd: resolve(cwd), input: input as AnyInput, options: checked };
}

/** The plan of an input, and the command that starts the same run. */
export function planPreview(crew: Crew, { cwd, input, options }: StartRequest): PlanPreview {
  const plan: Plan = crew.plan(unchecked(input));
  const { budget, ...own } = options;
  const command = commandLine(input, cwd, flagsFor({ ...own, ...(isRecord(budget) ? budget : {}) }));
  return { nodes: plannedNodes(plan), notes: plan.notes ?? [], command };
}

/** The command-line flag of each option of the form. */
const flags: Readonly<Record<string, (value: unknown) => readonly string[]>> = {
  name: (value) => ["--name", String(value)],
  maxTimeMs: (value) => ["--max-run-time", `${String(value)}ms`],
  maxDepth: (value) => ["--max-depth", String(value)],
  maxUsd: (value) => ["--max-usd", String(value)],
  maxTokens: (value) => ["--max-tokens", String(value)],
  maxTurns: (value) => ["--max-run-turns", String(value)],
  maxToolCalls: (value) => ["--max-tool-calls", String(value)],
  maxSpawns: (value) => ["--max-spawns", String(value)],
  onLimit: (value) => ["--on-limit", String(value)],
  onProviderFault: (value) => ["--on-provider-fault", String(value)],
  reuse: (value) => (value === true ? ["--reuse"] : []),
  strict: (value) => (value === true ? ["--strict"] : []),
  unattended: (value) => (value === true ? ["--unattended"] : []),
  projectInstructions: (value) => (value === false ? ["--no-project-instructions"] : []),
};

const flagsFor = (options: Readonly<Record<string, unknown>>): string =>
  Object.entries(options)
    .flatMap(([name, value]) => (value === undefined ? [] : (ownEntry(flags, name)?.(value) ?? [])))
    .map((word) => ` ${shellWord(word)}`)
    .join("");

function plannedNodes(body: Body, inside = ""): PlannedNode[] {
  return Object.entries(body.nodes).flatMap(([id, node]): PlannedNode[] => {
    const needs = needsOf(node).map((need) => (need in body.nodes ? inside + need : need));
    const own: PlannedNode = { id: inside + id, kind: node.kind, needs, ...about(node) };
    return node.kind === "loop"
      ? [
          own,
          ...plannedNodes(node.body, `${inside}${id}/`).map((each) =>
            each.needs.length > 0 ? each : { ...each, needs: [own.id] },
          ),
        ]
      : [own];
  });
}

function about(node: Node): Pick<PlannedNode, "agent" | "text"> {
  switch (node.kind) {
    case "task":
      return { agent: node.task.agent ?? "default agent", text: node.task.prompt.slice(0, 500) };
    case "gate":
      return { agent: "a person", text: node.question.slice(0, 500) };
    case "join":
      return { agent: "", text: node.pick === "first" ? "takes the first good result" : "waits for all" };
    case "loop":
      return { agent: "", text: `repeats up to ${node.max} times until "${node.until}" approves` };
  }
}

/**
 * The shell command for an input: with plain arguments if they can express it, otherwise with the whole input as
 * JSON.
 */
function commandLine(input: AnyInput, cwd: string, options: string): string {
  const mode = modeOf(input);
  const { mode: _mode, ...rest } = input as Record<string, unknown>;
  const { task, agent, ...more } = rest;
  const at = `--cwd ${shellWord(cwd)} --bg${options}`;
  if (mode === "single" && typeof task === "string" && typeof agent === "string" && Object.keys(more).length === 0)
    return `subcrew run ${at} ${shellWord(agent)} ${shellWord(task)}`;
  return `subcrew ${commandOf(mode)} ${at} --input - <<'END'\n${jsonText(rest, 2)}\nEND`;
}
