import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { asFetch } from "../../runtime/network/guarded-fetch-for-libraries.ts";
import type { GuardedOpen } from "../../runtime/network/guarded-request.ts";
import { webRefusal } from "../../runtime/network/web-target.ts";
import type { SentSecrets } from "./a2a-clean.ts";
import type { RemoteClients } from "./a2a-clients.ts";
import { createGate } from "./a2a-gate.ts";
import type { RemoteClient } from "./a2a-sdk.ts";

/** Maximum size of a remote agent's answer. */
const MAX_ANSWER_BYTES = 5_000_000;

export type ConnectParts = Readonly<{ clients: RemoteClients; open: GuardedOpen }>;

/** Connects to the remote agent of a task. A server that the policy does not allow is not contacted. */
export async function connectRemote(
  assignment: Assignment,
  context: PerformContext,
  { clients, open, secrets, signal }: ConnectParts & Readonly<{ secrets: SentSecrets; signal: AbortSignal }>,
): Promise<RemoteClient> {
  const place = assignment.agent.remote ?? {};
  secrets.credentials = clients.credentials(place);
  const gate = createGate(assignment, context, secrets.credentials?.label);
  const own = new Set(place.cardUrl === undefined ? [] : [new URL(place.cardUrl).origin]);
  const check = (url: string): void => {
    gate.check(url);
    if (secrets.clean(url) !== url && !own.has(new URL(url).origin))
      throw webRefusal("REDIRECT", "the server redirected to another server with a secret in the address");
  };
  const silenceMs = assignment.limits.maxTimeMs;
  const fetch = asFetch(open, { ...gate, check, silenceMs, maxBytes: MAX_ANSWER_BYTES });
  const show = (text: string): void => context.emit({ type: "note", text });
  if (place.cardUrl !== undefined) await gate.before(place.cardUrl);
  const there = await clients.open(place, { fetch, signal, ...(context.attended && { show }) });
  own.add(new URL(there.card.url).origin);
  // asks for approval first, so that no command prints a secret that is then not sent
  await gate.before(there.card.url);
  return there;
}
