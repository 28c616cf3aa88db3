import type { PerformContext } from "../core/engine.ts";
import { messageOf } from "../core/error.ts";
import type { ToolAnswer, ToolCall } from "../core/model.ts";
import { isRecord } from "../core/json.ts";
import { nearest } from "../core/nearest.ts";
import { permit } from "../core/permit.ts";
import { extractToolArgsPreview } from "../core/preview.ts";
import type { Assignment } from "../core/runner.ts";
import type { Tool } from "../core/tool.ts";
import { cutTail, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../core/cut.ts";
import { following, stopped } from "./cancel.ts";
import { parseArguments } from "./toolkit.ts";

/** How long a tool may take when it says nothing itself. */
const DEFAULT_TOOL_MS = 120_000;

/**
 * Executes one call, or says why not. Whatever goes wrong is an error *result* that the model reads; a call it is
 * not permitted never reaches the tool.
 */
export async function callTool(call: ToolCall, assignment: Assignment, context: PerformContext): Promise<ToolAnswer> {
  const { rights, tools } = assignment;
  const answer = (text: string, error: boolean): ToolAnswer => ({ id: call.id, name: call.name, text, error });
  const deny = (rule: string, text: string): ToolAnswer => {
    context.emit({ type: "tool.denied", call: call.id, tool: call.name, rule, text });
    return { ...answer(text, true), denied: true };
  };
  const tool = tools.get(call.name);
  if (!tool) {
    const close = nearest(call.name, [...tools.keys()].filter((name) => permit(rights, name).allowed));
    return deny("no such tool", `There is no tool "${call.name}".${close === undefined ? "" : ` Did you mean "${close}"?`}`);
  }
  const { allowed, rule } = permit(rights, tool.name);
  if (!allowed) return deny(rule, `The tool "${tool.name}" is not allowed here (${rule}). Go on without it.`);
  const parsed = parseArguments(tool, call.input);
  if ("problem" in parsed) return answer(`The arguments of ${tool.name} are not valid: ${parsed.problem}. Correct them and call again.`, true);

  const preview = extractToolArgsPreview(tool.name, isRecord(call.input) ? call.input : {});
  context.emit({ type: "tool.started", call: call.id, tool: tool.name, preview, effect: tool.effect });
  if (tool.effect === "write") await context.durable();
  const began = performance.now();
  const { text, error } = await runTool(tool, parsed.value, call.id, assignment, context);
  context.emit({ type: "tool.ended", call: call.id, tool: tool.name, error, text, ms: Math.round(performance.now() - began) });
  return answer(text, error);
}

async function runTool(tool: Tool, input: unknown, id: string, assignment: Assignment, context: PerformContext): Promise<{ text: string; error: boolean }> {
  const { controller, release } = following(context.signal);
  const limit = tool.timeoutMs ?? DEFAULT_TOOL_MS;
  const timer = setTimeout(() => controller.abort(stopped(`${tool.name} took longer than ${limit} ms`)), limit);
  try {
    const work = Promise.resolve(
      tool.run(input, {
        ...assignment.toolContext,
        signal: controller.signal,
        report: (text) => context.live({ type: "tool.delta", call: id, text }),
        notify: context.tell,
        delegate: (what) => context.delegate(what, { ceiling: allowed(assignment), model: assignment.model.ref }, controller.signal),
      }),
    );
    const result = await unlessAborted(work, controller.signal);
    const whole = typeof result === "string" ? { text: result, error: false } : { text: result.text, error: result.error ?? false };
    const { text, cut } = cutTail(whole.text, { bytes: MAX_OUTPUT_BYTES, lines: MAX_OUTPUT_LINES });
    const known = assignment.redact?.(text) ?? text;
    return { text: cut ? `[the beginning was cut]\n${known}` : known, error: whole.error };
  } catch (thrown) {
    return { text: `${tool.name} failed: ${messageOf(thrown)}`, error: true };
  } finally {
    clearTimeout(timer);
    release();
  }
}

function allowed({ tools, rights }: Assignment): string[] {
  return [...tools.keys()].filter((name) => permit(rights, name).allowed);
}

/** A tool that ignores its signal is left behind, so that cancelling never waits for it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      const reason: unknown = signal.reason;
      reject(new Error(isRecord(reason) && typeof reason["stop"] === "string" ? reason["stop"] : "it was stopped"));
    };
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
