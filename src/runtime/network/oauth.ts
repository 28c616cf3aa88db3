import * as oauth from "oauth4webapi";
import { isPrivateWay } from "../../core/net/loopback-host.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord, ownEntry, parseJson } from "../../core/text/json.ts";
import { type CallbackOptions, waitForCode } from "./sign-in-callback.ts";
import { signingKey } from "./signing-key.ts";

/** Endpoints of an authorization server, with the field names of the OAuth metadata document. */
export type OAuthEndpoints = Readonly<{
  /**
   * The identity of the authorization server. Absent if it is not configured; then it cannot be compared with the
   * identity in the callback.
   */
  issuer?: string | undefined;
  token_endpoint: string;
  authorization_endpoint?: string | undefined;
  revocation_endpoint?: string | undefined;
  token_endpoint_auth_methods_supported?: readonly string[] | undefined;
  code_challenge_methods_supported?: readonly string[] | undefined;
  authorization_response_iss_parameter_supported?: boolean | undefined;
}>;

export type OAuthClient = Readonly<{
  id: string;
  secret?: string | undefined;
  /** The authentication method that the client was registered with. */
  method?: string | undefined;
  /** The private key with which the client signs assertions, in PEM form, instead of a secret. */
  key?: string | undefined;
}>;

export type OAuthTokens = Readonly<{
  access: string;
  refresh?: string | undefined;
  /** When the token expires, in milliseconds since 1970. */
  expiresAt?: number | undefined;
  scope?: string | undefined;
}>;

export type OAuthContext = Readonly<{
  server: OAuthEndpoints;
  client: OAuthClient;
  /** Sends every request; the caller supplies a fetch that applies the network rules. */
  fetch: typeof fetch;
  signal: AbortSignal;
  /** The address that the tokens are for (RFC 8707). */
  resource?: string | undefined;
  clock?(): number;
}>;

/**
 * A token endpoint's answer that contains no tokens. `description` is text of the server, which may repeat a secret.
 */
export type OAuthRefusal = Error & Readonly<{ status: number; code?: string; description?: string }>;

export const isOAuthRefusal = (error: unknown): error is OAuthRefusal =>
  error instanceof Error && error.name === "OAuthRefusal";

/** True for the error that the callback came from another authorization server than the server that was asked. */
export const isForeignAnswer = (error: unknown): boolean => error instanceof Error && error.name === "ForeignAnswer";

/** How long before its end a token is renewed, in milliseconds, so that it does not expire during a request. */
const EARLY_MS = 30_000;

export const isFresh = ({ expiresAt }: Pick<OAuthTokens, "expiresAt">, now: number): boolean =>
  expiresAt === undefined || expiresAt - EARLY_MS > now;

export type BrowserSignIn = Omit<OAuthContext, "client"> &
  Readonly<{
    scope?: string | undefined;
    waiting: Pick<CallbackOptions, "port" | "host" | "patienceMs" | "pasted">;
    /** The client to sign in as; called once the address that the browser returns to is known. */
    client(redirect: string): OAuthClient | Promise<OAuthClient>;
    /** Shows the sign-in address to a person. */
    show(url: string): void | Promise<void>;
    /** Called with each secret of the sign-in before it is used, so that it can be redacted. */
    learn(secret: string): void;
  }>;

/** Signs a person in: authorization code with PKCE, which a browser on this machine delivers. */
export async function signInWithBrowser(how: BrowserSignIn): Promise<OAuthTokens> {
  const { server, scope, resource, waiting, signal } = how;
  const methods = server.code_challenge_methods_supported;
  if (methods && !methods.includes("S256")) throw new Error("the authorization server does not support PKCE with S256");
  const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
  how.learn(verifier);
  const challenge = await oauth.calculatePKCECodeChallenge(verifier);
  let client: OAuthClient | undefined;
  const { code, redirect, issuer } = await waitForCode({
    ...waiting,
    state,
    signal,
    ready: async (redirectUrl) => {
      client = await how.client(redirectUrl);
      const url = new URL(server.authorization_endpoint ?? "");
      // The user's browser opens the address, so only https or loopback addresses are allowed.
      if (!isPrivateWay(url)) throw new Error("the address to log in at is not https");
      const params = {
        response_type: "code",
        client_id: client.id,
        code_challenge: challenge,
        code_challenge_method: "S256",
        redirect_uri: redirectUrl,
        state,
        ...defined({ scope, resource }),
        ...(scope?.split(" ").includes("offline_access") && { prompt: "consent" }),
      };
      for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
      await how.show(url.href);
    },
  });
  how.learn(code);
  const context: OAuthContext = { ...how, client: client! };
  const answer = new URLSearchParams({
    code,
    state,
    ...(server.issuer !== undefined && issuer !== undefined && { iss: issuer }),
  });
  const checked = validated(context, answer, state);
  return tokensFrom(context, (auth, options) =>
    oauth.authorizationCodeGrantRequest(...parties(context), auth, checked, redirect, verifier, options),
  );
}

/** Signs in as a program with its own secret. */
export function signInAsProgram(context: OAuthContext, scope: string | undefined): Promise<OAuthTokens> {
  return tokensFrom(context, (auth, { additionalParameters, ...options }) =>
    oauth.clientCredentialsGrantRequest(
      ...parties(context),
      auth,
      { ...additionalParameters, ...defined({ scope }) },
      options,
    ),
  );
}

/** New tokens for a refresh token. Fields that the response omits keep their old value. */
export async function renewTokens(context: OAuthContext, before: OAuthTokens): Promise<OAuthTokens> {
  const renewed = await tokensFrom(context, (auth, options) =>
    oauth.refreshTokenGrantRequest(...parties(context), auth, before.refresh ?? "", options),
  );
  return { ...defined({ refresh: before.refresh, scope: before.scope }), ...renewed };
}

/** Revokes one token; false when the server refuses. */
export async function revokeToken(
  context: OAuthContext,
  token: string,
  kind: "access_token" | "refresh_token",
): Promise<boolean> {
  const [auth] = await authentications(context);
  const options = { ...requestOptions(context), additionalParameters: { token_type_hint: kind } };
  const response = await oauth.revocationRequest(...parties(context), auth!, token, options);
  await response.body?.cancel();
  return response.ok;
}

type Options = ReturnType<typeof requestOptions> & Readonly<{ additionalParameters: Record<string, string> }>;

/** Calls a token endpoint; tries another authentication method if the server does not list its methods. */
async function tokensFrom(
  context: OAuthContext,
  ask: (auth: oauth.ClientAuth, options: Options) => Promise<Response>,
): Promise<OAuthTokens> {
  const url = new URL(context.server.token_endpoint);
  if (!isPrivateWay(url)) throw new Error(`${url.host} does not use https, so no secret is sent to it`);
  const options = { ...requestOptions(context), additionalParameters: { ...defined({ resource: context.resource }) } };
  let response: Response | undefined;
  for (const auth of await authentications(context)) {
    await response?.body?.cancel();
    response = await ask(auth, options);
    if (response.status !== 400 && response.status !== 401) break;
  }
  return readTokens(context, response!);
}

/**
 * Parses the response of a token endpoint. An ID token is dropped unread, since the identity of the person is not
 * needed.
 */
async function readTokens(context: OAuthContext, response: Response): Promise<OAuthTokens> {
  const text = await response.text();
  const body = parsed(text);
  const { id_token: _, ...rest } = body ?? {};
  const { status, headers } = response;
  const read = new Response(body ? JSON.stringify(rest) : text, { status, headers });
  const given = await oauth
    .processGenericTokenEndpointResponse(...parties(context), read)
    .catch((error: unknown) => Promise.reject(refusal(context, { status, body, error })));
  const seconds = given.expires_in;
  return {
    access: given.access_token,
    ...defined({ refresh: given.refresh_token, scope: given.scope }),
    ...(seconds !== undefined && seconds > 0 && { expiresAt: (context.clock ?? Date.now)() + seconds * 1_000 }),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJson(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type Refused = Readonly<{ status: number; body: Readonly<Record<string, unknown>> | undefined; error: unknown }>;

function refusal({ server }: OAuthContext, { status, body, error }: Refused): OAuthRefusal {
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  const code = text(body?.["error"]) ?? (status === 401 ? "invalid_client" : undefined);
  const why = code === undefined ? "" : `: ${code}`;
  const made = new Error(`${new URL(server.token_endpoint).host} gave no token (${status}${why})`, { cause: error });
  return Object.assign(made, {
    name: "OAuthRefusal",
    status,
    ...defined({ code, description: text(body?.["error_description"]) }),
  });
}

function validated(context: OAuthContext, answer: URLSearchParams, state: string): URLSearchParams {
  try {
    return oauth.validateAuthResponse(...parties(context), answer, state);
  } catch {
    // The library's message may repeat text of the server, so it is not used.
    const made = new Error("the answer did not come from the authorization server that was asked");
    throw Object.assign(made, { name: "ForeignAnswer" });
  }
}

/** The server and the client, in the form that the OAuth library needs. */
function parties({ server, client }: OAuthContext): [oauth.AuthorizationServer, oauth.Client] {
  const { issuer = new URL(server.token_endpoint).origin, token_endpoint, revocation_endpoint } = server;
  const { authorization_response_iss_parameter_supported: saysIssuer } = server;
  return [
    {
      issuer,
      token_endpoint,
      ...defined({ revocation_endpoint, authorization_response_iss_parameter_supported: saysIssuer }),
    },
    { client_id: client.id },
  ];
}

/**
 * The options for the OAuth library. Whether a plain http address is allowed is decided in this file, not by the
 * library: addresses of this machine are allowed.
 */
function requestOptions({ fetch, signal, server }: OAuthContext) {
  const secure = [server.token_endpoint, server.revocation_endpoint].every(
    (url) => url === undefined || isPrivateWay(new URL(url)),
  );
  return {
    signal,
    [oauth.customFetch]: (url: string, init: object): Promise<Response> => fetch(url, init),
    [oauth.allowInsecureRequests]: secure,
  };
}

/** Client authentication methods in the order to try. */
async function authentications({ server, client }: OAuthContext): Promise<readonly oauth.ClientAuth[]> {
  const { secret, method, key } = client;
  if (key !== undefined) return [oauth.PrivateKeyJwt(await signingKey(key))];
  if (secret === undefined || method === "none") return [oauth.None()];
  const ways: Readonly<Record<string, oauth.ClientAuth>> = {
    client_secret_basic: basic(secret),
    client_secret_post: oauth.ClientSecretPost(secret),
  };
  const registered = method === undefined ? undefined : ownEntry(ways, method);
  if (registered) return [registered];
  const supported = (server.token_endpoint_auth_methods_supported ?? []).flatMap((name) => ownEntry(ways, name) ?? []);
  return supported.length > 0 ? supported : Object.values(ways);
}

/**
 * Encodes client credentials for a header. The library would also encode `-` and `_`, and servers that do not decode
 * the header would then refuse the credentials.
 */
const basic =
  (secret: string): oauth.ClientAuth =>
  (_, { client_id: id }, __, headers) => {
    const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  };
