import { defined } from "../../core/text/defined.ts";
import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import { asFetch } from "../../runtime/network/guarded-fetch-for-libraries.ts";
import type { GuardedOpen } from "../../runtime/network/guarded-request.ts";
import { hostOf } from "./auth-fetch.ts";
import type { ClientSdk, McpAuth, McpTransport } from "./client.ts";
import { filledAll, type Variables } from "./fill-in.ts";

/** A server at an address. */
export type HttpSpec = Readonly<{
  definition: McpServer;
  variables: Variables;
  /** The user wrote its address, so it may be on this machine. */
  users: boolean;
  open: GuardedOpen;
}>;

/** How long a server may say nothing while it works. */
const SILENCE_MS = 600_000;

/** The way to a server at an address, through the guard. `watch` sees every request and its answer. */
export function httpTransport(
  sdk: ClientSdk,
  { definition, variables, users, open }: HttpSpec,
  { auth, watch = (same) => same }: Readonly<{ auth?: McpAuth; watch?(inner: typeof fetch): typeof fetch }>,
): McpTransport {
  const url = new URL(definition.url ?? "");
  const guarded = asFetch(open, { silenceMs: SILENCE_MS, ...(users && { allowHosts: [hostOf(url)] }) });
  return new sdk.StreamableHTTPClientTransport(url, {
    fetch: watch(guarded),
    requestInit: { headers: filledAll(definition.headers, variables) },
    ...defined({ authProvider: auth }),
  });
}
