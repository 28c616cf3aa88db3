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
import { accessFor } from "./tool-services.ts";

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
  const { rights, tools } = assignment;
  const answer = (text: string, error: boolean): ToolAnswer => ({ id: call.id, name: call.name, text, error });
  const deny = (rule: string, text: string, more: Denial = {}): ToolAnswer => {
    context.emit({ type: "tool.denied", call: call.id, tool: call.name, rule, text, ...more });
    return { ...answer(text, true), denied: true };
  };
  const tool = calledTool(call, assignment);
  const unavailable = (name: string, rule: string): ToolAnswer =>
    deny(
      rule,
      `DENIED: Tool "${name}" is not available for task type "${rights.name}" (${rule}). Continue without it.`,
    );
  if (!tool) {
    // The delegation tools are made only for agents that may start other agents.
    const delegation = permit(rights, DELEGATION_TOOL);
    if (facadeOf(call.name) !== undefined && !delegation.allowed) return unavailable(call.name, delegation.rule);
    const close = nearest(
      call.name,
      [...tools.keys()].filter((name) => permit(rights, name).allowed),
    );
    return deny(
      "no such tool",
      `Unknown tool "${call.name}".${close === undefined ? "" : ` Did you mean "${close}"?`}`,
    );
  }
  const { allowed, rule } = permit(rights, tool.name);
  if (!allowed) return unavailable(tool.name, rule);
  const parsed = parseArguments(tool, call.input);
  const reject = (reason: string, text: string): ToolAnswer => {
    context.emit({ type: "tool.rejected", call: call.id, tool: tool.name, reason, text });
    return answer(text, true);
  };
  if ("problem" in parsed)
    return reject(
      parsed.problem,
      `The arguments of ${tool.name} are not valid: ${parsed.problem}. Correct them and call again.`,
    );
  const approved = await approve(tool, parsed.value, call.id, {
    assignment,
    context,
    signal,
    diff: () => diffOf(tool, parsed.value, assignment),
  });
  const { redact = (text) => text } = assignment;
  const preview = redactedPreview(tool.name, isRecord(parsed.value) ? parsed.value : {}, redact);
  const targeted = (located: readonly LocatedSubject[] = []): Readonly<{ target?: string }> =>
    callOrder(tool, parsed.value) === "write" ? { target: redact(subjectsText(located)) || preview } : {};
  if ("rule" in approved) {
    const { located, hint, unasked } = approved;
    return deny(approved.rule, approved.text, { tool: tool.name, ...defined({ hint, unasked }), ...targeted(located) });
  }
  if ("problem" in approved) return reject(approved.problem, approved.problem);

  if (signal.aborted) return answer("This call was not carried out.", true);
  const target = targeted(approved.judged);
  context.emit({ type: "tool.started", call: call.id, tool: tool.name, preview, effect: tool.effect, ...target });
  if (tool.effect === "write") await context.durable();
  const began = performance.now();
  const {
    text: told,
    status,
    details,
    files,
    rule: broken,
    images,
  } = await runTool({ ...approved, tool, input: parsed.value, id: call.id }, { assignment, context, signal });
  const error = status !== "ok";
  const found = error ? "" : await diagnosticsAfter(tool, call.id, { assignment, context, signal });
  const text = `${told}${parsed.notes.map((note) => `\n[${note}]`).join("")}${found}`;
  if (broken !== undefined)
    context.emit({ type: "tool.denied", call: call.id, tool: tool.name, rule: broken, text, ...target });
  context.emit({
    type: "tool.ended",
    call: call.id,
    tool: tool.name,
    error,
    text,
    ms: Math.round(performance.now() - began),
    status,
    ...defined({ details }),
    ...(files.length > 0 && { files }),
  });
  if (broken !== undefined) return { ...answer(text, true), denied: true };
  const seen = images && takesImages(assignment.model.id) ? { images } : {};
  return { ...answer(text, error), ...seen };
}

/** The change that a call would make now; `undefined` if the task may not read the file without being asked. */
async function diffOf(tool: Tool, input: unknown, assignment: Assignment): Promise<string | undefined> {
  const { access, toolContext } = assignment;
  if (!access || !tool.diff) return undefined;
  const reading = accessFor(access, { tool, judged: [], record: async () => {}, network: undefined }, assignment);
  return tool.diff(input, { cwd: toolContext.cwd, access: reading }).catch(() => undefined);
}

type Denial = Pick<Extract<Fact, { type: "tool.denied" }>, "hint" | "target" | "unasked"> & Readonly<{ tool?: string }>;
