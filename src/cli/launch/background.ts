import { resolve } from "node:path";
import type { AnyInput } from "../../core/plan/input.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { unchecked } from "../../modes/compile.ts";
import type { BackgroundRun } from "../../crew/background.ts";
import type { ResumeOptions, RunOptions } from "../../crew/prepare/run-options.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { Flags } from "../base/flags.ts";

/** Starts a run in the background and prints the commands to follow it. */
export async function runInBackground(
  crew: Crew,
  input: AnyInput | Plan,
  options: RunOptions,
  flags: Flags,
): Promise<number> {
  return announce(await crew.background(unchecked(input), options, processOptions(crew, checked(flags))), flags);
}

/** Resumes a run in the background. */
export async function resumeInBackground(
  crew: Crew,
  id: string,
  options: ResumeOptions,
  flags: Flags,
): Promise<number> {
  return announce(await crew.resumeInBackground(id, options, processOptions(crew, checked(flags))), flags);
}

/** Continues a paused run of the foreground in the background. Standard output stays empty: it is for the result. */
export async function moveToBackground(crew: Crew, id: string, options: ResumeOptions, flags: Flags): Promise<number> {
  return announce(await crew.resumeInBackground(id, options, processOptions(crew, flags)), flags, process.stderr);
}

function checked(flags: Flags): Flags {
  if (!flags.deltas) return flags;
  throw new CrewError(
    "BAD_INPUT",
    "--deltas cannot be combined with --bg.",
    "Leave out --deltas; `subcrew attach` follows a run while it works.",
  );
}

/**
 * Flags that are not passed to the background process: task flags are in the plan, output flags apply to this command
 * only.
 */
const ours: ReadonlySet<string> = new Set(
  "input plan agents models acceptSchema schema model thinking tools retry context contextFile gitContext name strict bg json deltas quiet color".split(
    " ",
  ),
);

function processOptions({ cwd }: Crew, flags: Flags): { crew: Record<string, unknown> } {
  const kept = Object.entries(flags).filter(([flag, value]) => !ours.has(flag) && value !== undefined);
  return { crew: { ...Object.fromEntries(kept), cwd: resolve(cwd) } };
}

function announce(
  { id, folder, outputFile }: BackgroundRun,
  { json, quiet }: Flags,
  out: NodeJS.WritableStream = process.stdout,
): number {
  if (quiet && !json) {
    out.write(`${id}\n`);
    return 0;
  }
  const commands = {
    status: `subcrew status ${id}`,
    attach: `subcrew attach ${id}`,
    wait: `subcrew wait ${id}`,
    result: `subcrew result ${id}`,
    inbox: "subcrew inbox",
    stop: `subcrew stop ${id}`,
  };
  const what: Record<keyof typeof commands, string> = {
    status: "show the progress",
    attach: "follow the run; Ctrl-C detaches",
    wait: "wait until the run ends",
    result: "print the result",
    inbox: "list the open questions",
    stop: "pause the run",
  };
  const width = Math.max(...Object.values(commands).map((line) => line.length));
  const lines = [
    `[Task running in background: ${id}]`,
    `You can continue working. The result will be in ${outputFile}`,
    ...Object.entries(commands).map(([key, line]) => `  ${line.padEnd(width)}  ${what[key as keyof typeof commands]}`),
    `  ${`/task-status ${id}`.padEnd(width)}  the same as status, in a chat`,
  ];
  out.write(json ? `${jsonText({ id, outputFile, folder, commands })}\n` : `${lines.join("\n")}\n`);
  return 0;
}
