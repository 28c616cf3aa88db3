import type { Question } from "../core/run/run-status.ts";
import { keyOf } from "./ask.ts";
import type { WaitedRun } from "./runs.ts";
import type { CallContext, ProtocolServer } from "./sdk.ts";
import { formsFor } from "./ask.ts";
import { takeReplies } from "./stay.ts";
import { RELATED_TASK } from "./tasks.ts";

type Form = Parameters<ProtocolServer["elicitInput"]>[0];

/** The tool call or the MCP task that a form for the person belongs to. */
export type FormOf = Readonly<{ call: CallContext } | { task: string }>;

/** The timeout of a form: a person may take hours. */
const FORM_MS = 86_400_000;

/**
 * Asks an MCP client with a protocol version of 2025 the questions of a run, as requests over the open connection.
 * Returns whether all forms were answered. A form that is cancelled, or that the client cannot show, leaves its
 * question in the inbox. A form is withdrawn when its question is answered in another program.
 */
export async function askOverConnection(
  served: WaitedRun,
  asked: readonly Question[],
  server: ProtocolServer,
  of: FormOf,
): Promise<boolean> {
  const answers = Object.entries(formsFor(asked)).map(async ([key, { params }]) => {
    const closed = new AbortController();
    const stop = served.listen((event) => {
      if (event.type === "gate.answered" && keyOf(event) === key) closed.abort();
    });
    const form = { ...params, ...("task" in of && { _meta: { [RELATED_TASK]: { taskId: of.task } } }) } as Form;
    const signals = [closed.signal, ...("call" in of ? [of.call.mcpReq.signal] : [])];
    const options = {
      timeout: FORM_MS,
      signal: AbortSignal.any(signals),
      ...("call" in of && { relatedRequestId: of.call.mcpReq.id }),
    };
    const reply = await server
      .elicitInput(form, options)
      .catch(() => ({ action: "cancel" as const }))
      .finally(stop);
    return closed.signal.aborted || takeReplies(served, { [key]: reply });
  });
  return (await Promise.all(answers)).every(Boolean);
}
