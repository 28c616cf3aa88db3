import { randomBytes } from "node:crypto";
import type { Event } from "../core/run/event.ts";
import { isActive } from "../core/run/run-status.ts";
import type { JsonSchema } from "../core/text/json.ts";
import type { Run } from "../runtime/run/run.ts";
import { keyOf } from "./ask.ts";
import type { McpRun, OnEvent, ServedRuns, WaitedRun } from "./runs.ts";

/** The event listener and the abort signal of a delegation call. */
export type DelegationCallContext = Readonly<{ signal: AbortSignal; heard(event: Event, run: Run): void }>;
export type DelegationResult = Readonly<{ text: string; error?: boolean }>;

/** Delegation tools for an MCP client, as `openDelegation` returns them for a crew. */
export type DelegationTools = Readonly<{
  tools(): Promise<readonly Readonly<{ name: string; description: string; input: JsonSchema; readOnly: boolean }>[]>;
  call(name: string, input: unknown, call: DelegationCallContext): Promise<DelegationResult>;
}>;

/** A call of a delegation tool, the runs that it started, and those of them that have not ended. */
export type DelegatedCall = WaitedRun &
  Readonly<{ over: Promise<DelegationResult>; runs(): readonly McpRun[]; started(): readonly string[] }>;

/** Calls a delegation tool. The runs that the call starts belong to this server from their first event on. */
export function delegated(
  runs: ServedRuns,
  call: (call: DelegationCallContext) => Promise<DelegationResult>,
): DelegatedCall {
  const own = new Map<string, McpRun>();
  const listeners = new Set<OnEvent>();
  const putOff = new Set<string>();
  const stop = new AbortController();
  const heard = (_: Event, run: Run): void => {
    if (own.has(run.id)) return;
    const served = runs.adopt(run);
    own.set(run.id, served);
    served.listen((event, state) => {
      // the answered question is no longer postponed, so a later question of the same gate is asked
      if (event.type === "gate.answered") putOff.delete(keyOf(event));
      for (const listener of listeners) listener(event, state);
    });
  };
  const over = call({ signal: stop.signal, heard });
  over.catch(() => {}); // the code that awaits the promise handles the rejection
  return {
    id: `call_${randomBytes(9).toString("base64url")}`,
    questions: () => [...own.values()].flatMap((served) => served.questions()),
    parked: () => {
      const active = [...own.values()].filter((served) => isActive(served.life()));
      const states = active.map((served) => served.parked());
      return states.every((state) => state !== undefined) ? states[0] : undefined;
    },
    putOff,
    told: { times: 0 },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answer: async (question, answer) => own.get(question.run)?.answer(question, answer) ?? false,
    cancel: () => stop.abort(),
    runs: () => [...own.values()].filter((served) => isActive(served.life())),
    started: () => [...own.keys()],
    over,
  };
}
