import { defined } from "../../core/text/defined.ts";
import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import { asFetch } from "../../runtime/network/guarded-fetch-for-libraries.ts";
import type { GuardedOpen } from "../../runtime/network/guarded-request.ts";
import { hostOf } from "./auth-fetch.ts";
import type { ClientSdk, McpAuth, McpTransport } from "./client.ts";
import { filledAll, type Variables } from "./fill-in.ts";

/** An MCP server with a URL. */
export type HttpSpec = Readonly<{
  definition: McpServer;
  variables: Variables;
  /** True when the user configured the address, so that it may be on this machine. */
  users: boolean;
  open: GuardedOpen;
}>;

/** How long a server may be silent during a request. */
const SILENCE_MS = 600_000;

/** The HTTP transport to a server, with the network rules applied. `watch` sees every request and its response. */
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
