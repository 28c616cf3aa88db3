import { type OAuthContext, revokeToken } from "../../runtime/network/oauth.ts";
import { authFetch } from "./auth-fetch.ts";
import type { HttpSpec } from "./http.ts";
import type { Logins } from "./logins.ts";
import { clientIn, endpointsOf, oauthClientOf } from "./oauth-client.ts";

export type LogoutSpec = Omit<HttpSpec, "users"> & Readonly<{ logins: Logins; signal: AbortSignal }>;

/** Deletes the login to a server, and revokes its tokens if the authorization server supports that. */
export async function logOut({
  definition,
  variables,
  open,
  logins,
  signal,
}: LogoutSpec): Promise<"not logged in" | "revoked" | "forgotten"> {
  const url = definition.url ?? "";
  const login = await logins.forget(url, signal);
  if (!login) return "not logged in";
  if (login.metadata?.revocation_endpoint === undefined) return "forgotten";
  const fetch = authFetch({ open, own: new URL(url), signal });
  try {
    const client = (login.clientId === undefined ? undefined : clientIn(definition, variables)) ?? login.client;
    const context: OAuthContext = { server: endpointsOf(login), client: oauthClientOf(client), fetch, signal };
    const { refresh, access } = login.tokens;
    const answers = [
      ...(refresh === undefined ? [] : [await revokeToken(context, refresh, "refresh_token")]),
      await revokeToken(context, access, "access_token"),
    ];
    return answers.every(Boolean) ? "revoked" : "forgotten";
  } catch {
    return "forgotten"; // the login is deleted on this machine, even when the server cannot be reached
  }
}
