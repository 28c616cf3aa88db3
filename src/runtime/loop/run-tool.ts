import type { ImageContent } from "../../core/model/images.ts";
import { messageOf } from "../../core/schema/error.ts";
import { onlyReads } from "../../core/shell/only-reads.ts";
import type { SeenChanges } from "../../core/task/change-recorder.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { Tool, ToolResult } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { classOf } from "../../core/vocabulary/tool-class.ts";
import type { ToolStatus } from "../../core/vocabulary/tool-status.ts";
import { following, reasonOf, stopped } from "../async/cancel.ts";
import { startTimer } from "../async/long-timer.ts";
import { onAbort } from "../async/on-abort.ts";
import { isDenial, isOpenRefusal } from "../files/open-contained.ts";
import { type CallingTask, type StartedCall, ToolServices } from "./tool-services.ts";
import { fittingText, imagesIn, recordable, toolResult } from "./tool-result.ts";

/** Default timeout of a tool. */
const DEFAULT_TOOL_MS = 120_000;

type ToolRunEnd = Readonly<{
  text: string;
  status: ToolStatus;
  /** Output files that the task may read from now on. */
  files: readonly string[];
  details?: unknown;
  images?: readonly ImageContent[];
  /** The permission rule that refused something during the tool call. */
  rule?: string;
}>;

/** Runs a tool within its time limit, and records which files it changed. A failure is a text that the model reads. */
export async function runTool(call: StartedCall, task: CallingTask): Promise<ToolRunEnd> {
  const { tool } = call;
  const { context, signal } = task;
  // The task may have been cancelled while this call was being recorded.
  if (signal.aborted)
    return { text: `${tool.name} was not carried out: ${reasonOf(signal)}`, status: "cancelled", files: [] };
  const { controller, release } = following(signal);
  let late = false;
  const services = new ToolServices(call, { ...task, signal: controller.signal });
  const watched = await watchCommand(call, task.assignment);
  const limit = tool.timeoutMs ?? DEFAULT_TOOL_MS;
  const clear = startTimer(() => {
    late = true;
    controller.abort(stopped(`${tool.name} took longer than ${limit} ms`));
  }, limit);
  try {
    const run = async (): Promise<ToolResult> => tool.run(call.input, services.context());
    const work = exclusively(call, { access: task.assignment.access, run, signal: controller.signal });
    return await endedWith(await unlessAborted(work, controller.signal), tool, services, task.assignment);
  } catch (thrown) {
    const files = services.files();
    return failedWith(thrown, { tool, files, late, isCancelled: signal.aborted }, task.assignment);
  } finally {
    clear();
    release();
    const { files: changed = [], unseen } = (await watched?.()) ?? {};
    if (changed.length > 0 || unseen !== undefined)
      context.emit({ type: "files.changed", call: call.id, files: changed, ...defined({ unseen }) });
    // Subagents of an aborted tool call stop with it, and the task gets its slot back before it continues.
    if (controller.signal.aborted) await services.helpersEnd();
  }
}

/** Delegation tools bound each result themselves, and name the file of each. */
async function endedWith(
  result: ToolResult,
  tool: Tool,
  services: ToolServices,
  assignment: Assignment,
): Promise<ToolRunEnd> {
  const { redact = (text) => text } = assignment;
  const whole = toolResult(result);
  services.tell([whole.file]);
  const isSpawn = classOf(tool) === "spawn";
  return {
    text: isSpawn
      ? redact(whole.text)
      : await fittingText(tool.name, whole, assignment, (file) => services.tell([file])),
    status: whole.status ?? (whole.error ? "failed" : "ok"),
    files: services.files(),
    ...recordable(whole.details),
    ...imagesIn(whole.images),
  };
}

type Failing = Readonly<{ tool: Tool; files: readonly string[]; late: boolean; isCancelled: boolean }>;

function failedWith(
  thrown: unknown,
  { tool, files, late, isCancelled }: Failing,
  { redact = (text) => text }: Assignment,
): ToolRunEnd {
  if (isOpenRefusal(thrown) && isDenial(thrown))
    return {
      text: `DENIED: ${redact(thrown.message)}.`,
      status: "failed",
      files: [],
      rule: thrown.code.toLowerCase(),
    };
  const other = isNotStarted(thrown) ? "not-started" : "failed";
  const status = late ? "timeout" : isCancelled ? "cancelled" : other;
  return { text: `${tool.name} failed: ${redact(messageOf(thrown))}`, status, files };
}

type Exclusive = Readonly<{ access: Assignment["access"]; run(): Promise<ToolResult>; signal: AbortSignal }>;

/** Runs a tool that changes certain files while no other task changes them. */
async function exclusively({ tool, judged }: StartedCall, { access, run, signal }: Exclusive): Promise<ToolResult> {
  const places =
    access && classOf(tool) === "write"
      ? judged.flatMap((each) => (each.kind === "path" && each.change ? each.places.slice(-1) : []))
      : [];
  return places.length === 0 ? run() : access!.exclusively(places, run, signal);
}

/**
 * Records the state of files before a tool call that may change any of them, such as a shell command. File tools record
 * their changes themselves.
 */
async function watchCommand(
  { tool, input }: StartedCall,
  { access, toolContext: { cwd } }: Assignment,
): Promise<(() => Promise<SeenChanges>) | undefined> {
  if (!access?.changes || classOf(tool) !== "exec") return undefined;
  const commands = tool.subjects?.(input).flatMap((each) => (each.kind === "command" ? [each.command] : [])) ?? [];
  if (commands.length > 0 && commands.every(onlyReads)) return undefined;
  return access.changes.watch([cwd, ...access.roots]);
}

function isNotStarted(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "NOT_STARTED";
}

/**
 * Waits for a tool unless it is cancelled: a tool that ignores its signal is abandoned, so that cancelling never waits
 * for it.
 */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      const reason: unknown = signal.reason;
      reject(new Error(isRecord(reason) && typeof reason["stop"] === "string" ? reason["stop"] : "it was stopped"));
    };
    if (signal.aborted) giveUp();
    work.then(resolve, reject).finally(onAbort(signal, giveUp));
  });
}
