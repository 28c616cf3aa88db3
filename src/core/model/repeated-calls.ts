/** What is to be done about a call that brought the same again. */
export type Repeat = "fine" | "tell" | "stop";

/** How often the same call with the same result is taken before the model is told, and before it is stopped. */
const TELL_AT = 3;
const STOP_AT = 5;

/** Watches for an agent that goes round in circles: the same call with the same result, again and again. */
export function createRepeats(): (tool: string, input: unknown, result: string) => Repeat {
  const seen = new Map<string, number>();
  return (tool, input, result) => {
    const key = `${tool} ${JSON.stringify(input)} ${result.length} ${result.slice(0, 200)}`;
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times >= STOP_AT ? "stop" : times >= TELL_AT ? "tell" : "fine";
  };
}
