import type { Outcome } from "../core/outcome/outcome.ts";
import type { Answer } from "../core/plan/gate.ts";
import type { Engine, Perform } from "../core/task/engine.ts";
import { pause } from "../runtime/async/cancel.ts";
import { onAbort } from "../runtime/async/on-abort.ts";

/** The functions that the local engine uses to execute tasks and to open journals. */
export type LocalParts = Readonly<{
  perform: Perform;
  journal: Engine["journal"];
}>;

/** Executes tasks, questions and waits in this process. */
export function localEngine({ perform, journal }: LocalParts): Engine {
  const performing = new Map<string, Promise<Outcome>>();
  const questions = new Map<string, (answer: Answer | undefined) => void>();
  return {
    perform: (call, context) => {
      const key = `${call.run}/${call.path}#${call.attempt}`;
      const known = performing.get(key);
      if (known) return known;
      const outcome = perform(call, context);
      const forget = (): void => void performing.delete(key);
      performing.set(key, outcome);
      outcome.then(forget, forget);
      return outcome;
    },
    sleep: async (_key, ms, signal) => {
      await pause(ms, signal);
    },
    answer: (key, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        const settle = (answer: Answer | undefined): void => {
          release();
          questions.delete(key);
          resolve(answer);
        };
        const release = onAbort(signal, () => settle(undefined));
        questions.set(key, settle);
      }),
    give: async (key, answer) => {
      const settle = questions.get(key);
      settle?.(answer);
      return settle !== undefined;
    },
    journal,
  };
}
