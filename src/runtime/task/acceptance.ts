import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { cutTail } from "../../core/text/cut.ts";
import { parseJson } from "../../core/text/json.ts";
import { approve } from "../access/approve-call.ts";
import { onAbort } from "../async/on-abort.ts";
import { checkFor } from "./compile-schema.ts";
import type { World } from "./world.ts";

const TIME_LIMIT_MS = 120_000;
const MOST_BYTES = 2_000;
/** The tool name under which acceptance commands appear in events. */
const CALL = "accept";

/**
 * Fails a successful answer that the acceptance command rejects. The command reads the answer from its standard input
 * and accepts it by exiting with 0. Policy, approval and sandbox apply as for any other command.
 */
export async function acceptedByCommand(
  outcome: Outcome,
  assignment: Assignment,
  context: PerformContext,
  world: World,
): Promise<Outcome> {
  const { call } = assignment;
  const command = call.task.acceptCommand;
  if (outcome.status !== "ok" || command === undefined) return outcome;
  const checker = { name: "the acceptance check", description: "", instructions: "" };
  const access = await world.access?.accessFor({
    ...call,
    agent: checker,
    cwd: assignment.toolContext.cwd,
    env: () => passedEnv(world.settings.env, world.settings.passEnv),
    commands: true,
    note: ({ level, text }) =>
      context.emit(level === "full" ? { type: "note", text } : { type: "warning", code: "SANDBOX", text }),
  });
  const bash = world.tools.get("bash");
  if (!access?.commands || !bash)
    return {
      ...outcome,
      ...failed("DENIED", "The acceptance command cannot be run, because commands are not available.", {
        hint: "Leave out the acceptance command.",
      }),
    };
  // As in `runAgent`: the task ends at once, but the run waits until the command has ended.
  const release = onAbort(context.signal, () => world.linger?.(access.end()));
  try {
    const approved = await approve(bash, { command }, CALL, {
      assignment: { ...assignment, agent: checker, access },
      context,
    });
    if (!("judged" in approved)) {
      const text = "text" in approved ? approved.text : approved.problem;
      context.emit({
        type: "tool.denied",
        call: CALL,
        tool: bash.name,
        rule: "rule" in approved ? approved.rule : "problem",
        text,
      });
      return { ...outcome, ...failed("DENIED", text) };
    }
    const commands = await access.commands();
    const { ended, code, text } = await commands.run(command, {
      timeoutMs: TIME_LIMIT_MS,
      signal: context.signal,
      report: () => {},
      input: outcome.output,
    });
    if (ended === "exited" && code === 0) return outcome;
    const how = ended === "exited" ? `exit code ${code}` : ended;
    const said = cutTail(text.trim(), { bytes: MOST_BYTES, lines: 50 }).text;
    return {
      ...outcome,
      ...failed("NOT_ACCEPTED", `The answer was not accepted: ${how}${said === "" ? "" : `: ${said}`}`, {
        retryable: ended === "exited",
      }),
    };
  } finally {
    release();
    await access.end();
  }
}

/** Fails a successful answer that does not match the acceptance schema. */
export async function acceptedBySchema(outcome: Outcome, { task }: Call, world: World): Promise<Outcome> {
  if (outcome.status !== "ok" || !task.acceptSchema) return outcome;
  const check = await checkFor(world.validator, task.acceptSchema);
  if ("broken" in check)
    return failed("NOT_ACCEPTED", `The acceptance schema is not a valid JSON Schema: ${check.broken}.`);
  const problem = check(outcome.data ?? parsed(outcome.output));
  if (problem === undefined) return outcome;
  return { ...outcome, ...failed("NOT_ACCEPTED", `The answer was not accepted: ${problem}.`, { retryable: true }) };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
