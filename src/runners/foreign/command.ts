import { LONGEST_TIMER_MS } from "../../runtime/async/long-timer.ts";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FailedOutcome, failed, type Outcome } from "../../core/outcome/outcome.ts";
import { RUN_ABOVE_VARIABLE } from "../../core/delegation/run-above.ts";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import type { Assignment, Runner } from "../../core/task/runner.ts";
import { following, stopped } from "../../runtime/async/cancel.ts";
import { deadlineOf } from "../../runtime/async/deadline.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { type Exit, startChild, within } from "../../runtime/commands/child.ts";
import { createMeter } from "../../runtime/commands/process-meter.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { keepLimits } from "../process/keep-limits.ts";
import { findProgram } from "./find-program.ts";
import { type ForeignParts, handOver, outcomeOf, writtenBy } from "./hand-over.ts";
import { jsonLines } from "./json-lines.ts";
import { createTally } from "./tally.ts";
import type { ForeignTool, Invocation } from "./tool.ts";
import { parseJson } from "../../core/text/json.ts";

const MARKER = "SUBCREW_TASK";
/** The grace period of a program after it was asked to end. */
const GRACE_MS = 1_500;
/** An error quotes the last output of a program, up to this number of characters. */
const SAID_CHARS = 2_000;

/**
 * Runs each task with the command of another agent program, as a process that ends with the task, together with all
 * processes that it started.
 */
export function commandRunner(name: string, tool: ForeignTool, parts: ForeignParts): Runner {
  return handOver(name, tool, async ({ assignment, context, bounds, asked }) => {
    const { limits, toolContext } = assignment;
    const file = findProgram(name, parts.env["PATH"], writtenBy(assignment));
    if (file === undefined)
      return failed("UNSUPPORTED", `"${name}" was not found, so ${name} cannot run the task.`, {
        hint: `Install the program: ${tool.install}. It must be in PATH, outside of the working folder.`,
      });
    const folder = await mkdtemp(join(tmpdir(), "subcrew-rules-"));
    const usageFile = join(folder, "usage.json");
    const invocation = tool.translate({ ...asked, bounds, rulesFile: join(folder, "rules.toml"), usageFile });
    if (invocation.rules !== undefined) await writeFile(join(folder, "rules.toml"), invocation.rules, { mode: 0o400 });
    const mark = `${MARKER}=${randomBytes(12).toString("hex")}`;
    const { controller, release } = following(context.signal);
    let passed: FailedOutcome | undefined;
    const stop = (fault: FailedOutcome): void => {
      passed ??= fault;
      controller.abort(stopped(fault.fault.message));
    };
    const tally = createTally({
      context,
      called: name,
      model: assignment.model.name,
      why: assignment.model.why,
      maxTurns: limits.enforce ? limits.maxTurns : Number.POSITIVE_INFINITY,
      redact: assignment.redact ?? ((text) => text),
      stop,
    });
    const lines = jsonLines(tool.reader(tally), (why) =>
      stop(
        failed("INVALID_OUTPUT", `The output of ${name} cannot be read: ${why}.`, {
          retryable: true,
          hint: "Check the version of the program, or use another runner.",
        }),
      ),
    );
    const child = startChild({
      file,
      args: invocation.args,
      cwd: toolContext.cwd,
      env: {
        ...environment(tool, invocation, { ...parts, mark }),
        ...passedEnv(toolContext.env, [RUN_ABOVE_VARIABLE]),
      },
      marker: mark,
      input: invocation.input ?? "",
      onOutput: lines.push,
    });
    const watch = keepLimits(limits, {
      used: createMeter({ marker: mark }),
      ping: () => Promise.resolve(),
      emit: context.emit,
      passed: stop,
    });
    const clock = limits.enforce ? undefined : deadlineOf(limits, context);
    const gone = within(child, { timeoutMs: timeOf(limits), signal: controller.signal, graceMs: GRACE_MS });
    let used: ReturnType<NonNullable<ForeignTool["usageIn"]>> | undefined;
    const over = gone.then(async (ended) => {
      watch.stop();
      release();
      used = tool.usageIn && (await writtenUsage(usageFile, tool.usageIn));
      await rm(folder, { recursive: true, force: true });
      return ended;
    });
    parts.linger(over);
    const { exit, cut } = await Promise.race([over, aborted(controller.signal)]);
    clock?.stop();
    lines.end();
    tally.close(used);
    if (passed) return outcomeOf({ assignment, context }, tally, passed);
    if (cut?.by === "cancelled")
      return outcomeOf({ assignment, context }, tally, { status: "cancelled", reason: cut.reason });
    if (cut?.by === "timeout") return outcomeOf({ assignment, context }, tally, outOfTime(name, limits));
    return outcomeOf({ assignment, context }, tally, tally.fault() ?? crashed(name, exit, child.output.text()));
  });
}

/** The usage that another agent program wrote to its usage file; `undefined` when the file is missing or incomplete. */
async function writtenUsage(
  file: string,
  usageIn: NonNullable<ForeignTool["usageIn"]>,
): Promise<ReturnType<typeof usageIn> | undefined> {
  try {
    return usageIn(parseJson(await readRegularText(file)));
  } catch {
    return undefined;
  }
}

type Ended = Awaited<ReturnType<typeof within>>;

/** Resolves as soon as the task is stopped; its program ends afterwards. */
function aborted(signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve) => {
    const settle = (): void => {
      const reason: unknown = signal.reason;
      const words = typeof reason === "object" && reason !== null && "stop" in reason ? String(reason.stop) : "stopped";
      resolve({ exit: {}, cut: { by: "cancelled", reason: words } });
    };
    if (signal.aborted) settle();
    else onAbort(signal, settle);
  });
}

const timeOf = ({ maxTimeMs, enforce }: Assignment["limits"]): number =>
  enforce ? Math.min(maxTimeMs, LONGEST_TIMER_MS) : LONGEST_TIMER_MS;

const outOfTime = (name: string, { maxTimeMs }: Assignment["limits"]): FailedOutcome =>
  failed("TIMEOUT", `${name} took longer than ${maxTimeMs} ms.`, {
    hint: "Raise the limit with --max-time.",
    retryable: true,
  });

/** The environment of the program: common variables, the program's own variables, and variables that subcrew sets. */
function environment(
  { variables }: ForeignTool,
  { env = {} }: Invocation,
  { env: all, passEnv, mark }: ForeignParts & { mark: string },
): Record<string, string> {
  const [name = "", value = ""] = mark.split("=");
  return { ...passedEnv(all, [...passEnv, ...variables]), ...env, [name]: value };
}

/** The fault of a program that exited with an error. */
function crashed(name: string, { code, signal, problem }: Exit, said: string): Outcome | undefined {
  if (code === 0) return undefined;
  const how =
    problem ?? (signal === undefined ? `the program exited with code ${code}` : `the program was killed by ${signal}`);
  const words = said.trim() === "" ? "" : `: ${said.trim().slice(-SAID_CHARS)}`;
  return failed("CRASHED", `${name} did not finish: ${how}${words}`, { retryable: true });
}
