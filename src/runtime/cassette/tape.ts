import type { ModelEvent } from "../../core/model/model.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { JsonSchema } from "../../core/text/json.ts";
import type { Cassette, RecordedRequest } from "./cassette.ts";

type Choice = Cassette["choices"][number];
type OfferedTool = Cassette["peers"][number]["tools"][number] & Readonly<{ input: JsonSchema }>;
type HeardCall = Cassette["tools"][number];

/** Records the model turns and tool calls of a run. All values are JSON, because the task may be on another machine. */
export type RecordTape = Readonly<{
  choice(choice: Choice): Promise<void>;
  /**
   * Records the start of a model turn, with the array to which its `events` will be added. Resolves with the number of
   * the turn.
   */
  turn(task: string, asked: RecordedRequest, events: ModelEvent[]): Promise<Readonly<{ at: number }>>;
  /** Records everything that the model sent in a model turn. */
  heard(at: number, events: ModelEvent[]): Promise<void>;
  tool(call: HeardCall): Promise<void>;
  peer(asked: string, tools: readonly OfferedTool[]): Promise<void>;
}>;

/**
 * The recorded entry; or `drift`, a description of the request that was not recorded; or `live`: the replayed part of
 * the recording has ended.
 */
export type Replayed<T> = Readonly<{ found: T }> | Readonly<{ drift: string }> | Readonly<{ live: true }>;

/** The reading side of a recording: supplies recorded answers, each once. */
export type ReplayTape = Readonly<{
  choice(wished: string, inWords: string): Promise<Choice | undefined>;
  turn(task: string, asked: RecordedRequest): Promise<Replayed<readonly ModelEvent[]>>;
  /** Looks up a tool call. `drift`: how the report describes the call if it was not recorded. */
  tool(key: string, drift: string): Promise<Replayed<Pick<HeardCall, "result" | "threw">>>;
  peer(asked: string): Promise<Replayed<readonly OfferedTool[]>>;
}>;

/** The recording of a run, for writing or for replaying, used by tasks on this and other machines. */
export type Tape =
  | Readonly<{ kind: "records"; tape: RecordTape }>
  | Readonly<{ kind: "replays"; tape: ReplayTape; isWhole: boolean }>;

const methods = ["choice", "turn", "heard", "tool", "peer"] as const;

/** Answers requests for the recording from tasks on other machines. */
export function tapeServer({ tape }: Tape): NonNullable<PerformContext["tape"]> {
  return async (method, values) => {
    const known: Readonly<Record<string, unknown>> = tape;
    const act = methods.some((name) => name === method) ? known[method] : undefined;
    if (typeof act !== "function")
      throw new CrewError(
        "BAD_INPUT",
        `A worker called "${method}" of the recording, which this version of subcrew does not have.`,
        "Use the same version of subcrew for the run and its workers.",
      );
    return (act as (...given: readonly unknown[]) => Promise<object | undefined>)(...values);
  };
}

/**
 * The recording of a run on another machine, for a task on this machine. Paths below `from` on that machine become
 * paths below `to` on this machine.
 */
export function remoteTape(
  ask: NonNullable<PerformContext["tape"]>,
  { from, to }: Readonly<{ from: string; to: string }>,
): Readonly<{ records: RecordTape; replays: ReplayTape }> {
  const moved = <V>(value: V, before: string, after: string): V =>
    before === after || value === undefined
      ? value
      : (JSON.parse(JSON.stringify(value).replaceAll(inJson(before), inJson(after))) as V);
  const call =
    (name: string) =>
    async (...values: readonly unknown[]): Promise<unknown> =>
      moved(await ask(name, moved(values, to, from)), from, to);
  const tape: unknown = Object.fromEntries(methods.map((name) => [name, call(name)]));
  return { records: tape as RecordTape, replays: tape as ReplayTape };
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
