import { randomBytes } from "node:crypto";
import { type FailedOutcome, failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { type Follower, following, stopped } from "../../runtime/async/cancel.ts";
import { type Deadline, deadlineOf } from "../../runtime/async/deadline.ts";
import { LONGEST_TIMER_MS } from "../../runtime/async/long-timer.ts";
import type { Exit } from "../../runtime/commands/child.ts";
import { createMeter } from "../../runtime/commands/process-meter.ts";
import { keepLimits } from "../process/keep-limits.ts";
import type { ForeignHandover } from "./hand-over.ts";
import { createTally, type Tally } from "./tally.ts";

/** An error quotes the last output of a program, up to this number of characters. */
const SAID_CHARS = 2_000;

/** A variable that marks all processes of one task. */
export const taskMarker = (): string => `SUBCREW_TASK=${randomBytes(12).toString("hex")}`;

/** Watches another agent program while it works on a task: counts its turns, and stops it at a limit. */
export class ProgramWatch {
  readonly tally: Tally;
  readonly #following: Follower;
  readonly #clock: Deadline | undefined;
  readonly #limits: ReturnType<typeof keepLimits>;
  #fault: FailedOutcome | undefined;

  constructor(
    called: string,
    { assignment, context }: Pick<ForeignHandover, "assignment" | "context">,
    marker: string,
  ) {
    const { limits, model } = assignment;
    this.#following = following(context.signal);
    this.tally = createTally({
      context,
      called,
      model: model.name,
      why: model.why,
      maxTurns: limits.enforce ? limits.maxTurns : Number.POSITIVE_INFINITY,
      redact: assignment.redact ?? ((text) => text),
      stop: (fault) => this.stop(fault),
    });
    this.#limits = keepLimits(limits, {
      used: createMeter({ marker }),
      ping: () => Promise.resolve(),
      emit: context.emit,
      passed: (fault) => this.stop(fault),
    });
    this.#clock = limits.enforce ? undefined : deadlineOf(limits, context);
  }

  /** Aborts when the task is stopped, or when the program passes a limit. */
  get signal(): AbortSignal {
    return this.#following.controller.signal;
  }

  /** Why the program was stopped here; absent when it ended by itself or the task was stopped. */
  get fault(): FailedOutcome | undefined {
    return this.#fault;
  }

  stop(fault: FailedOutcome): void {
    this.#fault ??= fault;
    this.#following.controller.abort(stopped(fault.fault.message));
  }

  close(): void {
    this.#clock?.stop();
    this.#limits.stop();
    this.#following.release();
  }
}

/** How long a timer for the time limit of a task runs. */
export const timeOf = ({ maxTimeMs, enforce }: Assignment["limits"]): number =>
  enforce ? Math.min(maxTimeMs, LONGEST_TIMER_MS) : LONGEST_TIMER_MS;

/** The fault of a program that took too long. */
export const outOfTime = (called: string, { maxTimeMs }: Assignment["limits"]): FailedOutcome =>
  failed("TIMEOUT", `${called} took longer than ${maxTimeMs} ms.`, {
    hint: "Raise the limit with --max-time.",
    retryable: true,
  });

/** The fault of a program that exited before it finished. */
export function exited(called: string, { code, signal, problem }: Exit, said: string): Outcome {
  const how =
    problem ?? (signal === undefined ? `the program exited with code ${code}` : `the program was killed by ${signal}`);
  const words = said.trim() === "" ? "" : `: ${said.trim().slice(-SAID_CHARS)}`;
  return failed("CRASHED", `${called} did not finish: ${how}${words}`, { retryable: true });
}
