import { stableText } from "../text/stable-text.ts";

/** The reaction to a repeated tool call: none, a warning to the model, or stopping the task. */
export type Repeat = "fine" | "tell" | "stop";

/** A tool call with its result. */
export type RepeatableCall = Readonly<{
  tool: string;
  input: unknown;
  result: string;
  /** True: the call succeeded and changes something, so that another call may have another result now. */
  changes: boolean;
}>;

/** Number of turns with an identical tool call and an identical result before the model is warned, and before it is stopped. */
const TELL_AT = 3;
const STOP_AT = 5;

/**
 * Detects an agent that repeats the same tool call with the same result while nothing changes. Takes the calls of a
 * turn; several equal calls of a turn count once, because the model has not seen a result between them.
 */
export function createRepeats(): (calls: readonly RepeatableCall[]) => Repeat[] {
  /** For each call: how often it had which result. */
  const seen = new Map<string, Map<string, number>>();
  return (calls) => {
    const counted = new Set<string>();
    return calls.map(({ tool, input, result, changes }) => {
      const call = `${tool} ${stableText(input)}`;
      const results = seen.get(call) ?? new Map<string, number>();
      if (changes) seen.clear(); // the call itself still counts
      seen.set(call, results);
      const key = `${call} ${result}`;
      const times = (results.get(result) ?? 0) + (counted.has(key) ? 0 : 1);
      counted.add(key);
      results.set(result, times);
      return times >= STOP_AT ? "stop" : times >= TELL_AT ? "tell" : "fine";
    });
  };
}
