import type { ToolAnswer, ToolCall } from "../../core/model/model.ts";
import { isFinishTool } from "../../core/policy/permit.ts";
import type { BudgetRefusal } from "../../core/run/budget.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { addCount } from "../../core/text/json.ts";
import { callTool } from "./call-tool.ts";
import { reporterOf } from "./corrections.ts";
import { alreadyComplete, type FinishAttempt, finishWith, onlyResultNow, receipt } from "./finish-tool.ts";
import { type NoProgress, ProgressWatch } from "./progress-watch.ts";
import type { RebuiltConversation } from "./rebuild-conversation.ts";
import { inOrder, reachesOf } from "./call-order.ts";

/** How a task continues after the tool calls of one turn. */
export type TurnReply =
  | Readonly<{ is: "more" }>
  | Readonly<{ is: "over"; finish: FinishAttempt }>
  /** The tool calls did not run, because the run's budget of tool calls is used up. */
  | Readonly<{ is: "limit"; refusal: BudgetRefusal }>
  /** The agent makes no progress and gets its last turn. */
  | NoProgress;

/** `closing`: only a call of the finish tool is carried out. `known`: the results that were recorded before a resume. */
type AnsweredCalls = Readonly<{
  signal: AbortSignal;
  closing: boolean;
  known?: ReadonlyMap<string, ToolAnswer> | undefined;
}>;

/** The tool calls of one task: carries out those of a turn in their order, and counts them. */
export class ToolCalls {
  readonly #assignment: Assignment;
  readonly #context: PerformContext;
  readonly #watch: ProgressWatch;
  /** The calls that are not carried out, because they follow a call whose outcome is unknown. */
  readonly #skipped: ReadonlySet<ToolAnswer | undefined>;
  readonly #used: Record<string, number>;

  constructor(
    assignment: Assignment,
    context: PerformContext,
    { behind, used }: Pick<RebuiltConversation, "behind" | "used">,
  ) {
    this.#assignment = assignment;
    this.#context = context;
    this.#watch = new ProgressWatch(assignment);
    this.#skipped = new Set(behind);
    this.#used = { ...used };
  }

  /** How often each tool was used. */
  used(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.#used).filter(([, count]) => count > 0));
  }

  /**
   * Executes the tool calls of a turn. A call of the finish tool is accepted after the other calls ran; a second call of
   * the finish tool is ignored.
   */
  async answer(
    calls: readonly ToolCall[],
    { signal, closing, known = new Map() }: AnsweredCalls,
  ): Promise<{ reply: TurnReply; results: ToolAnswer[] }> {
    const { completion, limits } = this.#assignment;
    const isFinish = (call: ToolCall): boolean => completion !== "text" && isFinishTool(call.name);
    const finishCall = calls.find((call) => isFinish(call) && !this.#skipped.has(known.get(call.id)));
    const finish = finishCall && finishWith(finishCall.input, this.#assignment, reporterOf(this.#context));
    let refusal: BudgetRefusal | undefined;
    const made = new Map<ToolAnswer, ToolCall>();
    const carryOut = async (call: ToolCall): Promise<ToolAnswer> => {
      if (call === finishCall) return receipt(call, finish, this.#resultName, this.#context.emit);
      if (finishCall && isFinishTool(call.name)) return alreadyComplete(call, this.#context.emit);
      const before = known.get(call.id);
      if (before) return before;
      if (closing) return onlyResultNow(call, this.#context.emit);
      const refused = await this.#context.budget.count("maxToolCalls");
      if (refused) {
        refusal ??= refused;
        return { id: call.id, name: call.name, text: `Not carried out: ${refused.refused}.`, error: true };
      }
      const result = await callTool(call, this.#assignment, this.#context, signal);
      if (!result.denied) addCount(this.#used, call.name);
      made.set(result, call);
      return result;
    };
    for (const { name } of calls) addCount(this.#used, name, 0); // tools are listed in the order of their calls
    const results = await inOrder(calls, {
      limit: limits.maxConcurrentToolCalls,
      reach: reachesOf(calls, this.#assignment),
      run: carryOut,
    });
    const { idle, told } = this.#watch.see(results, made);
    if (finish) return { reply: { is: "over", finish }, results: told };
    if (refusal) return { reply: { is: "limit", refusal }, results: told };
    return { reply: idle && !closing ? idle : { is: "more" }, results: told };
  }

  get #resultName(): string {
    return this.#assignment.agent.outputName ?? "result";
  }
}
