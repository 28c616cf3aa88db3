import type { AgentCard } from "../core/delegation/catalog.ts";
import type { Outcome, ReadOutcome } from "../core/outcome/outcome.ts";
import type { ToolContext, ToolResult } from "../core/task/tool.ts";
import { cutHead } from "../core/text/cut.ts";
import { asId } from "../modes/names.ts";
import { declaredInputs, promptFromInputs } from "./agent-inputs.ts";
import { excerptOf, shareOf } from "../core/outcome/excerpt.ts";
import { delegatePlan, planFor } from "./carry-out.ts";

/** The termination reason of an agent in the terms of Gemini CLI. */
export type AgentTerminateMode = "GOAL" | "TIMEOUT" | "MAX_TURNS" | "ABORTED" | "ERROR" | "ERROR_NO_COMPLETE_TASK_CALL";

/** The values of an agent's inputs, by name. */
export type AgentInputs = Readonly<Record<string, unknown>>;

/** The result of an agent in the terms of Gemini CLI. */
export type OutputObject = Readonly<{ result: string; terminate_reason: AgentTerminateMode }>;

const DESCRIPTION_CHARS = 200;
const INPUT_CHARS = 50;

/** One line that names the agent that is started and its inputs. */
export function invocationText(agent: string, inputs: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(inputs).map(([name, value]) => `${name}: ${cutHead(plain(value), INPUT_CHARS).text}`);
  return cutHead(`Running subagent '${agent}' with inputs: { ${given.join(", ")} }`, DESCRIPTION_CHARS).text;
}

const plain = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The termination reason for an outcome, in the terms of Gemini CLI. */
export function terminateMode(outcome: Outcome): AgentTerminateMode {
  if (outcome.status === "ok") return "GOAL";
  if (outcome.status !== "failed") return "ABORTED";
  return modes[outcome.fault.code] ?? "ERROR";
}

const modes: Readonly<Record<string, AgentTerminateMode>> = {
  TIMEOUT: "TIMEOUT",
  MAX_TURNS: "MAX_TURNS",
  BUDGET: "MAX_TURNS",
  EMPTY: "ERROR_NO_COMPLETE_TASK_CALL",
  INVALID_OUTPUT: "ERROR_NO_COMPLETE_TASK_CALL",
};

/** The text about the result that the parent agent reads. */
export function invocationResult(
  agent: string,
  outcome: ReadOutcome,
  { task, chars }: Readonly<{ task?: string | undefined; chars?: number | undefined }> = {},
): string {
  return [
    `Subagent '${agent}' ${endings[outcome.status]}.`,
    `Termination Reason: ${terminateMode(outcome)}`,
    ...(task === undefined || outcome.status === "ok" ? [] : [`Task: ${task}`]),
    `Result:\n${excerptOf(outcome, shareOf(chars, 1))}`,
  ].join("\n");
}

const endings: Readonly<Record<Outcome["status"], string>> = {
  ok: "finished",
  failed: "failed",
  cancelled: "was cancelled",
  skipped: "was not started",
};

/** Runs one agent with its inputs and returns its result; local and remote agents are treated alike. */
export async function invoke(
  card: AgentCard,
  inputs: Readonly<Record<string, unknown>>,
  { context, news }: Readonly<{ context: ToolContext; news: string }>,
): Promise<ToolResult> {
  context.report(`${invocationText(card.name, inputs)}\n`);
  const id = asId(card.name);
  const task = { id, agent: card.name, prompt: promptFromInputs(card, inputs), label: card.name };
  const named = declaredInputs(card, inputs);
  const plan = planFor([Object.keys(named).length === 0 ? task : { ...task, inputs: named }]);
  const { outcome, done } = await delegatePlan(plan, context);
  const last: ReadOutcome = done[0]?.outcome ?? outcome;
  return {
    text: invocationResult(card.name, last, { task: done[0]?.task, chars: context.resultChars }) + news,
    error: last.status !== "ok",
    details: { agent: card.name, task: done[0]?.task, terminate_reason: terminateMode(last), file: last.file },
  };
}
