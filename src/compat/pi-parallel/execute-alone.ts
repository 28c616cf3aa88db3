import type { Body } from "../../core/plan/plan.ts";
import { createBudget } from "../../core/run/budget.ts";
import type { Fact } from "../../core/run/event.ts";
import { noHistory } from "../../core/run/history.ts";
import { nowhere } from "../../core/schedule/fill-references.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { Engine, Perform } from "../../core/task/engine.ts";
import { taskContext } from "../../core/task/task-context.ts";
import { defined } from "../../core/text/defined.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { settleOnAbort } from "../../runtime/async/settle-on-abort.ts";
import { Slots } from "../../runtime/async/slots.ts";
import { execute, type RunningPlan } from "../../runtime/execute/execute.ts";
import { createLeases } from "../../runtime/execute/leases.ts";
import { createMailbox } from "../../runtime/execute/mailbox.ts";
import type { PlanOutcome } from "../../runtime/execute/scope.ts";
import { StoppableNodes } from "../../runtime/execute/stoppable-nodes.ts";
import { createMemoryStore } from "../../runtime/store/memory-store.ts";

/** The parts for executing a plan directly for a library caller, without a run. */
export type StandalonePlan = Readonly<{
  perform: Perform;
  signal: AbortSignal;
  concurrency: number;
  /** Context text for every task. */
  context?: string;
  emit?(path: string, fact: Fact): void;
  /** Answers the plan's gates (questions); without it they stay unanswered. */
  answer?: Engine["answer"];
}>;

/** Executes a plan with a function that executes its tasks: nothing is stored, and nothing can be resumed. */
export function executeAlone(
  body: Body,
  alone: StandalonePlan,
  started?: (growing: RunningPlan) => void,
): Promise<PlanOutcome> {
  const { perform, signal, concurrency, context = "", emit = () => {}, answer } = alone;
  const engine: Engine = {
    perform: (call, context) =>
      settleOnAbort(call, context.signal, ({ isOver }) => perform(call, taskContext(context, { isOver }))),
    sleep: async (_key, ms, stop) => {
      await pause(ms, stop);
    },
    answer: (path, stop) => answer?.(path, stop) ?? Promise.resolve(undefined),
    give: () => Promise.resolve(false),
    journal: createMemoryStore().open,
  };
  return execute(
    body,
    {
      run: {
        id: RUN,
        engine,
        history: noHistory,
        emit,
        live: () => {},
        durable: () => Promise.resolve(),
        context,
        parameters: { unattended: answer === undefined, maxDepth: 0 },
        budget: createBudget({}),
        mailbox: createMailbox(),
        leases: createLeases(),
        stoppable: new StoppableNodes(),
        compile: () => {
          throw new CrewError(
            "BAD_INPUT",
            "Agents cannot start other agents here.",
            "Start a run to let agents start agents.",
          );
        },
        redact: (text) => text,
        random: () => 0,
        execute,
      },
      prefix: "",
      outer: nowhere,
      slots: new Slots(concurrency),
      signal,
      depth: 0,
    },
    defined({ started }),
  );
}

const RUN = "alone";

/** The path of the node in the key of a question. */
export function pathOfKey(key: string): string {
  return key.slice(RUN.length + 1);
}
