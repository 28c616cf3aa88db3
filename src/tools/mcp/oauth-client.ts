import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import {
  isOAuthRefusal,
  type OAuthClient,
  type OAuthContext,
  type OAuthEndpoints,
  renewTokens,
} from "../../runtime/network/oauth.ts";
import { filledSecret, fillVariables, type Variables } from "./fill-in.ts";
import type { Login } from "./login-note.ts";
import type { Renewal } from "./logins.ts";

/** The OAuth client in the user's settings; `undefined` when the login has to register a client. */
export function clientIn({ oauth }: McpServer, variables: Variables): Login["client"] | undefined {
  if (oauth?.clientId === undefined) return undefined;
  return {
    client_id: fillVariables(oauth.clientId, variables),
    ...(oauth.clientSecret !== undefined && { client_secret: filledSecret(oauth.clientSecret, variables) }),
  };
}

/** Converts a registered client to the format that the sign-in code uses. */
export const oauthClientOf = ({
  client_id: id,
  client_secret: secret,
  token_endpoint_auth_method: method,
}: Login["client"]): OAuthClient => ({ id, secret, method });

/**
 * The OAuth endpoints for a login. A server without metadata has the paths that the first version of the protocol
 * defined.
 */
export function endpointsOf({
  server,
  issuer,
  metadata,
}: Pick<Login, "server" | "issuer" | "metadata">): OAuthEndpoints {
  const at = (path: string): string => new URL(path, server).href;
  return metadata ?? { issuer, authorization_endpoint: at("/authorize"), token_endpoint: at("/token") };
}

export type RenewalParts = Pick<OAuthContext, "fetch" | "signal"> &
  Readonly<{
    /** The OAuth client in the user's settings. */
    client: Login["client"] | undefined;
    clock(): number;
  }>;

/**
 * Refreshes tokens at the server that issued them. The MCP server cannot influence that address, so it
 * cannot redirect a refresh token.
 */
export function renewalBy({ client, ...parts }: RenewalParts): Renewal {
  return async (login) => {
    const context: OAuthContext = {
      ...parts,
      server: endpointsOf(login),
      client: oauthClientOf(client ?? login.client),
      resource: login.resource,
    };
    // The original error is not kept as the cause, because its description may repeat the token.
    return renewTokens(context, login.tokens).catch((error: unknown) => {
      if (!isOAuthRefusal(error)) throw error;
      const { code = `status ${error.status}` } = error;
      if (error.code === undefined || PASSING.has(code))
        throw new Error(`${new URL(login.server).host} did not renew the login (${code})`);
      return undefined;
    });
  };
}

/** Error codes that do not depend on the tokens, so that they may be temporary. */
const PASSING: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable", "too_many_requests"]);
