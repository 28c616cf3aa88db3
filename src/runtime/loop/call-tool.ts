import { takesImages } from "../../core/model/images.ts";
import type { ToolAnswer, ToolCall } from "../../core/model/model.ts";
import { permit } from "../../core/policy/permit.ts";
import { type LocatedSubject, subjectsText } from "../../core/rules/call-subject.ts";
import type { Fact } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { parseArguments } from "../../core/task/parse-arguments.ts";
import { redactedPreview } from "../../core/task/preview.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { nearest } from "../../core/text/nearest.ts";
import { facadeOf } from "../../core/vocabulary/delegation-names.ts";
import { DELEGATION_TOOL } from "../../core/vocabulary/tool-names.ts";
import { approve } from "../access/approve-call.ts";
import { diagnosticsAfter } from "./diagnostics.ts";
import { calledTool, callOrder } from "./call-order.ts";
import { runTool } from "./run-tool.ts";
import { accessFor, type CallingTask, type StartedCall } from "./tool-services.ts";

/**
 * Executes one tool call, or returns why it cannot be executed. A failure is an error *result* that the model reads; a
 * call that is not permitted never reaches the tool.
 */
export async function callTool(
  call: ToolCall,
  assignment: Assignment,
  context: PerformContext,
  signal: AbortSignal = context.signal,
): Promise<ToolAnswer> {
  const { rights, redact = (text) => text } = assignment;
  const report = new CallReport(call, context.emit);
  const tool = calledTool(call, assignment);
  if (!tool) return unknownTool(call, assignment, report);
  const { allowed, rule } = permit(rights, tool.name);
  if (!allowed) return report.unavailable(tool.name, rule, rights);
  const parsed = parseArguments(tool, call.input);
  if ("problem" in parsed) {
    const text = `The arguments of ${tool.name} are not valid: ${parsed.problem}. Correct them and call again.`;
    return report.reject(tool, parsed.problem, text);
  }
  const diff = () => diffOf(tool, parsed.value, assignment);
  const approved = await approve(tool, parsed.value, call.id, { assignment, context, signal, diff });
  const preview = redactedPreview(tool.name, isRecord(parsed.value) ? parsed.value : {}, redact);
  const targeted = (located: readonly LocatedSubject[] = []): Readonly<{ target?: string }> =>
    callOrder(tool, parsed.value) === "write" ? { target: redact(subjectsText(located)) || preview } : {};
  if ("rule" in approved) {
    const { located, hint, unasked, text } = approved;
    return report.deny(approved.rule, text, { tool: tool.name, ...defined({ hint, unasked }), ...targeted(located) });
  }
  if ("problem" in approved) return report.reject(tool, approved.problem, approved.problem);
  if (signal.aborted) return report.answer("This call was not carried out.", true);
  const started = { ...approved, tool, input: parsed.value, id: call.id };
  const shown = { preview, ...targeted(approved.judged), notes: parsed.notes };
  return carryOut(started, shown, report, { assignment, context, signal });
}

/** What the events of a call name, and notes about its arguments for the model. */
type ShownCall = Readonly<{ preview: string; target?: string; notes: readonly string[] }>;

/** Runs the tool of an approved call, and records its beginning and its end. */
async function carryOut(
  started: StartedCall,
  { preview, notes, ...target }: ShownCall,
  report: CallReport,
  task: CallingTask,
): Promise<ToolAnswer> {
  const { tool, id: call } = started;
  const { emit, durable } = task.context;
  emit({ type: "tool.started", call, tool: tool.name, preview, effect: tool.effect, ...target });
  if (tool.effect === "write") await durable();
  const began = performance.now();
  const { text: told, status, details, files, rule, images } = await runTool(started, task);
  const error = status !== "ok";
  const found = error ? "" : await diagnosticsAfter(tool, call, task);
  const text = `${told}${notes.map((note) => `\n[${note}]`).join("")}${found}`;
  const denied = rule === undefined ? undefined : report.deny(rule, text, { tool: tool.name, ...target });
  const ms = Math.round(performance.now() - began);
  const more = { ...defined({ details }), ...(files.length > 0 && { files }) };
  emit({ type: "tool.ended", call, tool: tool.name, error, text, ms, status, ...more });
  if (denied) return denied;
  const seen = images && takesImages(task.assignment.model.id) ? { images } : {};
  return { ...report.answer(text, error), ...seen };
}

/** Answers one call, and records why it was refused. */
class CallReport {
  readonly #call: ToolCall;
  readonly #emit: PerformContext["emit"];

  constructor(call: ToolCall, emit: PerformContext["emit"]) {
    this.#call = call;
    this.#emit = emit;
  }

  answer(text: string, error: boolean): ToolAnswer {
    return { id: this.#call.id, name: this.#call.name, text, error };
  }

  deny(rule: string, text: string, more: Denial = {}): ToolAnswer {
    this.#emit({ type: "tool.denied", call: this.#call.id, tool: this.#call.name, rule, text, ...more });
    return { ...this.answer(text, true), denied: true };
  }

  reject(tool: Tool, reason: string, text: string): ToolAnswer {
    this.#emit({ type: "tool.rejected", call: this.#call.id, tool: tool.name, reason, text });
    return this.answer(text, true);
  }

  unavailable(tool: string, rule: string, { name }: Assignment["rights"]): ToolAnswer {
    const text = `DENIED: Tool "${tool}" is not available for task type "${name}" (${rule}). Continue without it.`;
    return this.deny(rule, text);
  }
}

/** Refuses a call of a tool that the task does not have, and names the nearest tool that it has. */
function unknownTool({ name }: ToolCall, { rights, tools }: Assignment, report: CallReport): ToolAnswer {
  // The delegation tools are made only for agents that may start other agents.
  const delegation = permit(rights, DELEGATION_TOOL);
  if (facadeOf(name) !== undefined && !delegation.allowed) return report.unavailable(name, delegation.rule, rights);
  const usable = [...tools.keys()].filter((tool) => permit(rights, tool).allowed);
  const close = nearest(name, usable);
  const hint = close === undefined ? "" : ` Did you mean "${close}"?`;
  return report.deny("no such tool", `Unknown tool "${name}".${hint}`);
}

/** The change that a call would make now; `undefined` if the task may not read the file without being asked. */
async function diffOf(tool: Tool, input: unknown, assignment: Assignment): Promise<string | undefined> {
  const { access, toolContext } = assignment;
  if (!access || !tool.diff) return undefined;
  const reading = accessFor(access, { tool, judged: [], record: async () => {}, network: undefined }, assignment);
  return tool.diff(input, { cwd: toolContext.cwd, access: reading }).catch(() => undefined);
}

type Denial = Pick<Extract<Fact, { type: "tool.denied" }>, "hint" | "target" | "unasked"> & Readonly<{ tool?: string }>;
