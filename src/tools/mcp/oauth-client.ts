import { defined } from "../../core/text/defined.ts";
import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import type { ClientSdk } from "./client.ts";
import { filledSecret, fillVariables, type Variables } from "./fill-in.ts";
import type { Login, Tokens } from "./login-note.ts";
import type { Renewal } from "./logins.ts";

/** What an authorization server says when it gives tokens out. */
type Given = Awaited<ReturnType<ClientSdk["refreshAuthorization"]>>;

/** Who we are according to the settings; `undefined`: we register ourselves. */
export function clientIn({ oauth }: McpServer, variables: Variables): Login["client"] | undefined {
  if (oauth?.clientId === undefined) return undefined;
  return {
    client_id: fillVariables(oauth.clientId, variables),
    ...(oauth.clientSecret !== undefined && { client_secret: filledSecret(oauth.clientSecret, variables) }),
  };
}

/** Tokens as they are kept. What is not said anew stays as it was. */
export function tokensFrom(
  { access_token: access, refresh_token: refresh, expires_in: seconds, scope }: Given,
  now: number,
  before?: Tokens,
): Tokens {
  const [kept, granted] = [refresh ?? before?.refresh, scope ?? before?.scope];
  return {
    access,
    ...defined({ refresh: kept }),
    ...(seconds !== undefined && seconds > 0 && { expiresAt: now + seconds * 1_000 }),
    ...defined({ scope: granted }),
  };
}

export type RenewalParts = Readonly<{
  sdk: ClientSdk;
  /** Guarded. */
  fetch: typeof fetch;
  /** Who we are according to the settings. */
  client: Login["client"] | undefined;
  clock(): number;
}>;

/**
 * Asks for new tokens where the old ones came from. Nothing that the server says today has a say in where that is, so it
 * cannot lead a refresh token elsewhere.
 */
export function renewalBy({ sdk, fetch, client, clock }: RenewalParts): Renewal {
  return async (login) => {
    const asked = sdk.refreshAuthorization(login.server, {
      clientInformation: client ?? login.client,
      refreshToken: login.tokens.refresh ?? "",
      fetchFn: fetch,
      ...metadataOf(login),
    });
    const answer = await asked.then(
      (given) => ({ given }),
      (error: unknown) => ({ error }),
    );
    if ("given" in answer) return tokensFrom(answer.given, clock(), login.tokens);
    if (!sdk.OAuthError.isInstance(answer.error)) throw answer.error;
    const { code } = answer.error; // its words may repeat the token
    if (PASSING.has(code)) throw new Error(`${new URL(login.server).host} did not renew the login (${code})`);
    return undefined;
  };
}

/** What a login was made with, for the functions of the library. */
export const metadataOf = ({ metadata, resource }: Pick<Login, "metadata" | "resource">) => ({
  ...(metadata && { metadata: metadata as NonNullable<Parameters<ClientSdk["refreshAuthorization"]>[1]["metadata"]> }),
  ...defined({ resource }),
});

/** Refusals that say nothing about the tokens. */
const PASSING: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable", "too_many_requests"]);
