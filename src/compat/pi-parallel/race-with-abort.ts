import { failed } from "../../core/outcome/outcome.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { race } from "../../modes/race.ts";
import { executeAlone } from "./execute-alone.ts";

/**
 * One of the functions that compete in a race. Its signal aborts when another function has won, or when the race is
 * cancelled.
 */
export type Contestant<T> = Readonly<{ id: string; run(signal: AbortSignal): Promise<T> }>;

/** The winner and its value, or the information that the race was cancelled. */
export type RaceResult<T> =
  | Readonly<{ winner: string; result: T; aborted?: never }>
  | Readonly<{ aborted: true; winner?: never; result?: never }>;

/**
 * The first success wins and all other functions are aborted, without waiting for functions that ignore the signal.
 * When all fail, one error lists every failure. It is implemented with the race mode of plans.
 */
export async function raceWithAbort<T>(
  tasks: readonly Contestant<T>[],
  signal: AbortSignal = new AbortController().signal,
): Promise<RaceResult<T>> {
  if (tasks.length === 0) throw new CrewError("BAD_INPUT", "No tasks to race", "Give at least one task.");
  const plan = race({ mode: "race", race: { task: "race", models: tasks.map(({ id }) => id) } });
  const paths = plan.nodes[plan.output]?.needs ?? [];
  const contestants = new Map(paths.map((path, index) => [path, tasks[index]!]));
  const results = new Map<string, T>();

  const { outcome } = await executeAlone(plan, {
    signal,
    concurrency: Number.POSITIVE_INFINITY,
    perform: async ({ path }, context) => {
      try {
        results.set(path, await contestants.get(path)!.run(context.signal));
        return { status: "ok", output: path };
      } catch (thrown) {
        return failed("CRASHED", messageOf(thrown));
      }
    },
  });

  const winner = outcome.status === "ok" ? outcome.from?.[0] : undefined;
  if (winner !== undefined) return { winner: contestants.get(winner)!.id, result: results.get(winner) as T };
  if (signal.aborted) return { aborted: true };
  const message = outcome.status === "failed" ? outcome.fault.message : "";
  throw new Error(`All race models failed:${message.slice(message.indexOf("\n"))}`);
}
