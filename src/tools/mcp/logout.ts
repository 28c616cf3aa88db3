import { defined } from "../../core/text/defined.ts";
import { authFetch } from "./auth-fetch.ts";
import { type ClientSdk, loadClient } from "./client.ts";
import type { HttpSpec } from "./http.ts";
import type { Login } from "./login-note.ts";
import type { Logins } from "./logins.ts";
import { clientIn } from "./oauth-client.ts";

export type LogoutSpec = Omit<HttpSpec, "users"> & Readonly<{ logins: Logins; signal: AbortSignal }>;

/** Forgets the login to a server, and takes it back where it was made if that can be done there. */
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
  const at = login.metadata?.revocation_endpoint;
  if (at === undefined) return "forgotten";
  const fetch = authFetch({ open, own: new URL(url), signal });
  try {
    const sdk = await loadClient();
    const client = (login.clientId === undefined ? undefined : clientIn(definition, variables)) ?? login.client;
    const { refresh, access } = login.tokens;
    const answers = [
      ...(refresh === undefined
        ? []
        : [await revoke(sdk, fetch, { at, token: refresh, kind: "refresh_token", client, login })]),
      await revoke(sdk, fetch, { at, token: access, kind: "access_token", client, login }),
    ];
    return answers.every(Boolean) ? "revoked" : "forgotten";
  } catch {
    return "forgotten"; // it is gone here, whatever they do there
  }
}

type Revocation = Readonly<{ at: string; token: string; kind: string; client: Login["client"]; login: Login }>;

async function revoke(
  sdk: ClientSdk,
  fetch: typeof globalThis.fetch,
  { at, token, kind, client, login }: Revocation,
): Promise<boolean> {
  const { client_id: id, client_secret: secret } = client;
  const method = sdk.selectClientAuthMethod(client, login.metadata?.token_endpoint_auth_methods_supported ?? []);
  const inHeader = method === "client_secret_basic" && secret !== undefined;
  const response = await fetch(at, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      ...(inHeader && { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` }),
    },
    body: new URLSearchParams({
      token,
      token_type_hint: kind,
      ...(!inHeader && { client_id: id, ...defined({ client_secret: secret }) }),
    }),
  });
  await response.body?.cancel();
  return response.ok;
}
