import type { ToolAnswer, ToolCall } from "../../core/model/model.ts";
import { createRepeats } from "../../core/model/repeated-calls.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { prompts } from "../../embedded.ts";
import { callProgress } from "./call-order.ts";

/** Number of turns in a row with nothing but refused calls after which an agent is stopped. */
const MAX_REFUSED_TURNS = 5;

/** The agent makes no progress: it repeats a call, or all its calls are refused. */
export type NoProgress = Readonly<{ is: "idle"; code: "STUCK" | "DENIED"; text: string }>;

/** Notices whether the tool calls of a task make no progress. */
export class ProgressWatch {
  readonly #assignment: Assignment;
  readonly #repeated = createRepeats();
  #refusedTurns = 0;

  constructor(assignment: Assignment) {
    this.#assignment = assignment;
  }

  /**
   * Sees the results of a turn; `made`: the calls that were carried out. Returns the results with warnings to the model,
   * and the reason to stop.
   */
  see(
    results: readonly ToolAnswer[],
    made: ReadonlyMap<ToolAnswer, ToolCall>,
  ): { told: ToolAnswer[]; idle?: NoProgress } {
    this.#refusedTurns = results.every(({ denied }) => denied) ? this.#refusedTurns + 1 : 0;
    const repeats = this.#repeatsOf(results, made);
    const told = results.map((result) =>
      repeats.get(result) === "tell" ? { ...result, text: `${result.text}\n${prompts.sameAgain}` } : result,
    );
    if (this.#refusedTurns >= MAX_REFUSED_TURNS) {
      const text = `All calls of ${this.#refusedTurns} turns in a row were refused.`;
      return { told, idle: { is: "idle", code: "DENIED", text } };
    }
    const stuck = results.find((result) => repeats.get(result) === "stop");
    if (!stuck) return { told };
    const text = `The agent called ${stuck.name} with the same arguments and the same result repeatedly.`;
    return { told, idle: { is: "idle", code: "STUCK", text } };
  }

  #repeatsOf(
    results: readonly ToolAnswer[],
    made: ReadonlyMap<ToolAnswer, ToolCall>,
  ): ReadonlyMap<ToolAnswer, ReturnType<ReturnType<typeof createRepeats>>[number]> {
    const counted = results.flatMap((result) => {
      const call = made.get(result);
      const kind = call && callProgress(call, this.#assignment);
      return !call || kind === "polls" ? [] : [{ result, call, changes: kind === "changes" && !result.error }];
    });
    const again = this.#repeated(
      counted.map(({ result, call: { name, input }, changes }) => ({
        tool: name,
        input,
        result: result.text,
        changes,
      })),
    );
    return new Map(counted.map(({ result }, at) => [result, again[at]!]));
  }
}
