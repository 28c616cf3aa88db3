import { setTimeout as sleep } from "node:timers/promises";
import type { Model, ModelEvent, ModelRequest, TurnUsage } from "../../core/model/model.ts";
import type { Fault } from "../../core/outcome/outcome.ts";
import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { isDeeplyNested } from "../../core/text/json.ts";
import { estimatedUsage, written } from "../wires/estimate.ts";

/**
 * The answer of a scripted model in one turn: plain text ends the work, calls request tools, an error ends the turn.
 */
export type ScriptedTurn =
  | string
  | Readonly<{
      text?: string;
      thinking?: string;
      calls?: readonly Readonly<{ name: string; input: unknown; id?: string }>[];
      /** Delay before the answer; an abort ends it early. */
      delayMs?: number;
      error?: Fault;
      usage?: TurnUsage;
      cost?: number;
    }>;

/** A turn, or a function that computes it from the request. */
export type Script = ScriptedTurn | ((request: ModelRequest) => ScriptedTurn | Promise<ScriptedTurn>);

/** A scripted model, with all requests that it received so far. */
export type ScriptedModel = Model & { readonly requests: readonly ModelRequest[] };

/**
 * A model that plays these turns in order, one per request, and then fails. For tests: the same script gives the
 * same events, and `requests` records the requests it received.
 */
export function scripted(...turns: readonly Script[]): ScriptedModel {
  const requests: ModelRequest[] = [];
  const model: Model = async function* (request, signal) {
    const number = requests.push({ ...request, messages: [...request.messages], tools: [...request.tools] });
    const script = turns[number - 1];
    yield* script === undefined ? over(turns.length) : played(script, { number, request, signal });
  };
  return Object.assign(model, { requests });
}

/** A model that says nothing until it is aborted. */
export const never: Model = async function* (_, signal) {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  yield aborted;
};

type Turn = Readonly<{ number: number; request: ModelRequest; signal: AbortSignal }>;

async function* played(script: Script, { number, request, signal }: Turn): AsyncGenerator<ModelEvent> {
  let turn: Exclude<ScriptedTurn, string>;
  try {
    const made = typeof script === "function" ? await script(request) : script;
    turn = typeof made === "string" ? { text: made } : made;
    if (turn.delayMs !== undefined) await sleep(turn.delayMs, undefined, { signal });
    signal.throwIfAborted();
  } catch (error) {
    yield signal.aborted
      ? aborted
      : fault("MODEL_BAD_ANSWER", `turn ${number} of the script failed: ${messageOf(error)}`);
    return;
  }
  const { text = "", thinking = "", calls = [], error, usage, cost } = turn;
  if (thinking !== "") yield { type: "thinking", text: thinking };
  if (text !== "") yield { type: "text", text };
  for (const [n, { name, input, id = `call_${number}_${n + 1}` }] of calls.entries())
    yield { type: "call", call: { id, name, input } };
  if (error !== undefined) yield { type: "error", fault: error };
  else
    yield {
      type: "end",
      usage:
        usage ??
        estimatedUsage(request, thinking + text + written(calls.filter(({ input }) => !isDeeplyNested(input)))),
      ...defined({ cost }),
    };
}

function* over(turns: number): Generator<ModelEvent> {
  yield fault(
    "MODEL_BAD_ANSWER",
    `script is over: it has ${turns} turn${turns === 1 ? "" : "s"}, and one more was requested`,
  );
}

const aborted: ModelEvent = fault("MODEL_NETWORK", "the turn was aborted");

function fault(code: Fault["code"], message: string): ModelEvent {
  return { type: "error", fault: { code, message, retryable: false } };
}
