/** The reaction to a repeated tool call: none, a warning to the model, or stopping the task. */
export type Repeat = "fine" | "tell" | "stop";

/** Number of identical tool calls with identical results before the model is warned, and before it is stopped. */
const TELL_AT = 3;
const STOP_AT = 5;

/** Detects an agent that repeats the same tool call with the same result. */
export function createRepeats(): (tool: string, input: unknown, result: string) => Repeat {
  const seen = new Map<string, number>();
  return (tool, input, result) => {
    const key = `${tool} ${JSON.stringify(input)} ${result.length} ${result.slice(0, 200)}`;
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times >= STOP_AT ? "stop" : times >= TELL_AT ? "tell" : "fine";
  };
}
