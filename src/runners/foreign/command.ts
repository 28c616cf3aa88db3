import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failed } from "../../core/outcome/outcome.ts";
import { RUN_ABOVE_VARIABLE } from "../../core/delegation/run-above.ts";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import type { Runner } from "../../core/task/runner.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { startChild, within } from "../../runtime/commands/child.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { findProgram } from "./find-program.ts";
import { type ForeignParts, handOver, outcomeOf, writtenBy } from "./hand-over.ts";
import { jsonLines } from "./json-lines.ts";
import { exited, outOfTime, ProgramWatch, taskMarker, timeOf } from "./program-watch.ts";
import type { ForeignTool, Invocation } from "./tool.ts";
import { parseJson } from "../../core/text/json.ts";

/** The grace period of a program after it was asked to end. */
const GRACE_MS = 1_500;

/**
 * Runs each task with the command of another agent program, as a process that ends with the task, together with all
 * processes that it started.
 */
export function commandRunner(name: string, tool: ForeignTool, parts: ForeignParts): Runner {
  return handOver(name, tool, async (task) => {
    const { assignment, bounds, asked } = task;
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
    const marker = taskMarker();
    const watch = new ProgramWatch(name, task, marker);
    const { tally } = watch;
    const lines = jsonLines(tool.reader(tally), (why) =>
      watch.stop(
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
        ...environment(tool, invocation, { ...parts, marker }),
        ...passedEnv(toolContext.env, [RUN_ABOVE_VARIABLE]),
      },
      marker,
      input: invocation.input ?? "",
      onOutput: lines.push,
    });
    const gone = within(child, { timeoutMs: timeOf(limits), signal: watch.signal, graceMs: GRACE_MS });
    let used: ReturnType<NonNullable<ForeignTool["usageIn"]>> | undefined;
    const over = gone.then(async (ended) => {
      used = tool.usageIn && (await writtenUsage(usageFile, tool.usageIn));
      await rm(folder, { recursive: true, force: true });
      return ended;
    });
    parts.linger(over);
    const { exit, cut } = await Promise.race([over, aborted(watch.signal)]);
    watch.close();
    lines.end();
    tally.close(used);
    if (watch.fault) return outcomeOf(task, tally, watch.fault);
    if (cut?.by === "cancelled") return outcomeOf(task, tally, { status: "cancelled", reason: cut.reason });
    if (cut?.by === "timeout") return outcomeOf(task, tally, outOfTime(name, limits));
    const failure = exit.code === 0 ? undefined : exited(name, exit, child.output.text());
    return outcomeOf(task, tally, tally.fault() ?? failure);
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

/** The environment of the program: common variables, the program's own variables, and variables that subcrew sets. */
function environment(
  { variables }: ForeignTool,
  { env = {} }: Invocation,
  { env: all, passEnv, marker }: ForeignParts & { marker: string },
): Record<string, string> {
  const [name = "", value = ""] = marker.split("=");
  return { ...passedEnv(all, [...passEnv, ...variables]), ...env, [name]: value };
}
