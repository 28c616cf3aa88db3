import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { isPrivateWay } from "../../core/net/loopback-host.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { type SignInProblem, signInProblem, waitForCode } from "../../runtime/network/sign-in-callback.ts";
import type { TokenFiles } from "../../runtime/network/token-files.ts";
import { remoteFailure } from "./a2a-fault.ts";
import type { CardScheme } from "./a2a-sdk.ts";

/** OAuth in the `auth` of an agent's file. What it leaves out is taken from the card. */
export const oauthScheme = z.strictObject({
  type: z.literal("oauth"),
  clientId: z.string().min(1),
  clientSecret: z.string().min(1).optional(),
  scopes: z.array(z.string()).optional(),
  authorizationUrl: z.url().optional(),
  tokenUrl: z.url().optional(),
  /** The port of the address that the browser comes back to; any free one by default. */
  redirectPort: z.number().int().min(0).max(65_535).optional(),
});
type OAuthScheme = z.infer<typeof oauthScheme>;

/** What signing in may use. */
export type SignIn = Readonly<{
  /** Those that the card names. */
  schemes?: readonly CardScheme[];
  /** Goes through the guard, like everything else. */
  fetch: typeof fetch;
  /** Shows a person an address to open; absent when nobody is there. */
  show?(text: string): void;
  signal: AbortSignal;
}>;

type Token = Readonly<{ access: string; refresh?: string; expiresAt?: number }>;

type OAuthParts = Readonly<{
  read(written: string, signal: AbortSignal): Promise<string>;
  secrets: Set<string>;
  tokens?: TokenFiles;
}>;

/** A token is renewed this long before it ends, so that it does not end on the way. */
const EARLY_MS = 30_000;

/** Signs in with OAuth 2: as a program with its own secret, or as a person in a browser (authorisation code with PKCE). */
export function createOAuth(scheme: OAuthScheme, { read, secrets, tokens }: OAuthParts) {
  let held: Token | undefined;
  let asking: Promise<Token> | undefined;

  const keep = async (token: Token, key: string): Promise<Token> => {
    for (const secret of [token.access, token.refresh]) if (secret !== undefined) secrets.add(secret);
    held = token;
    await tokens?.write(key, token);
    return token;
  };
  const obtain = async (how: SignIn): Promise<Token> => {
    const places = placesOf(scheme, how);
    const key = createHash("sha256")
      .update(JSON.stringify([places, scheme.clientId]))
      .digest("hex")
      .slice(0, 32);
    const client = {
      id: await read(scheme.clientId, how.signal),
      ...(scheme.clientSecret !== undefined && { secret: await read(scheme.clientSecret, how.signal) }),
    };
    const known = held ?? parseToken(await tokens?.read(key));
    if (known && isFresh(known)) return keep(known, key);
    if (known?.refresh !== undefined) {
      const renewed = await askToken(
        places.tokenUrl,
        { grant_type: "refresh_token", refresh_token: known.refresh },
        client,
        how,
      ).catch(
        () => undefined, // it may have been taken back: then somebody has to sign in again
      );
      if (renewed) return keep({ refresh: known.refresh, ...renewed }, key);
    }
    const scope = places.scopes.length > 0 ? { scope: places.scopes.join(" ") } : {};
    if (places.authorizationUrl === undefined)
      return keep(await askToken(places.tokenUrl, { grant_type: "client_credentials", ...scope }, client, how), key);
    const { authorizationUrl } = places;
    return keep(await inBrowser({ ...places, authorizationUrl, port: scheme.redirectPort ?? 0 }, client, how), key);
  };
  return {
    token: async (how: SignIn): Promise<string> => {
      if (held && isFresh(held)) return held.access;
      // Several tasks that begin together sign in once.
      asking ??= obtain(how).finally(() => {
        asking = undefined;
      });
      return (await asking).access;
    },
    forget: async (): Promise<boolean> => {
      if (!held) return false;
      held = { ...held, expiresAt: 0 };
      return true;
    },
  };
}

type Places = Readonly<{ tokenUrl: string; authorizationUrl?: string; scopes: readonly string[] }>;

/** Where to sign in: what the file says, else what the card says. */
function placesOf(scheme: OAuthScheme, { schemes }: SignIn): Places {
  const named = schemes?.find((each) => each.type === "oauth2");
  const tokenUrl = scheme.tokenUrl ?? named?.tokenUrl;
  const authorizationUrl =
    scheme.authorizationUrl ?? (scheme.clientSecret === undefined ? named?.authorizationUrl : undefined);
  if (!tokenUrl)
    throw remoteFailure(
      "REMOTE_AUTH",
      "neither its `auth` nor its card says where tokens come from",
      "Add token_url to `auth`.",
    );
  if (authorizationUrl === undefined && scheme.clientSecret === undefined)
    throw remoteFailure(
      "REMOTE_AUTH",
      "its `auth` has no client_secret and no authorization_url",
      "Add the one that you have.",
    );
  return {
    tokenUrl,
    scopes: scheme.scopes ?? named?.scopes ?? [],
    ...defined({ authorizationUrl }),
  };
}

type ClientId = Readonly<{ id: string; secret?: string }>;

/** A person signs in; the browser brings the code back to this machine. */
async function inBrowser(
  { authorizationUrl, tokenUrl, scopes, port }: Places & { authorizationUrl: string; port: number },
  client: ClientId,
  how: SignIn,
): Promise<Token> {
  if (!how.show)
    throw remoteFailure(
      "NEEDS_ANSWER",
      "somebody has to sign in to it in a browser, and nobody is there",
      "Run it once in a terminal.",
    );
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(16).toString("base64url");
  const { code, redirect } = await waitForCode({
    port,
    state,
    signal: how.signal,
    ready: (redirectUri) => {
      const url = new URL(authorizationUrl);
      const params = {
        response_type: "code",
        client_id: client.id,
        redirect_uri: redirectUri,
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
        state,
        ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      };
      for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
      how.show?.(`Open this address in a browser to sign in: ${url.href}`);
    },
  }).catch((error: unknown) => {
    const problem = signInProblem(error);
    throw problem ? remoteFailure("REMOTE_AUTH", (error as Error).message, SIGN_IN_HINTS[problem]) : error;
  });
  const grant = { grant_type: "authorization_code", code, redirect_uri: redirect, code_verifier: verifier };
  return askToken(tokenUrl, grant, client, how);
}

const SIGN_IN_HINTS: Readonly<Record<SignInProblem, string>> = {
  PORT: "Choose another redirect_port.",
  REFUSED: "Try it again.",
  UNFINISHED: "Run it again and sign in.",
};

/** One question to a token endpoint. A client with a secret shows it in the header, or in the form where that is refused. */
async function askToken(
  url: string,
  grant: Readonly<Record<string, string>>,
  { id, secret }: ClientId,
  { fetch, signal }: SignIn,
): Promise<Token> {
  const at = new URL(url);
  if (!isPrivateWay(at))
    throw remoteFailure(
      "REMOTE_AUTH",
      `${at.host} is asked without encryption, so no secret is sent there`,
      "Use its https address.",
    );
  const ask = (inHeader: boolean): Promise<Response> =>
    fetch(url, {
      method: "POST",
      signal,
      headers: {
        accept: "application/json",
        "content-type": "application/x-www-form-urlencoded",
        ...(inHeader &&
          secret !== undefined && {
            authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
          }),
      },
      body: new URLSearchParams({
        ...grant,
        ...((!inHeader || secret === undefined) && {
          client_id: id,
          ...defined({ client_secret: secret }),
        }),
      }).toString(),
    });
  let response = await ask(true);
  if (secret !== undefined && (response.status === 401 || response.status === 400)) {
    await response.body?.cancel();
    response = await ask(false);
  }
  const said: unknown = await response.json().catch(() => undefined);
  const token = isRecord(said) ? said["access_token"] : undefined;
  if (!response.ok || !isRecord(said) || typeof token !== "string" || token === "") {
    const why = isRecord(said) && typeof said["error"] === "string" ? `: ${said["error"]}` : "";
    throw remoteFailure(
      "REMOTE_AUTH",
      `${at.host} gave no token (${response.status}${why})`,
      "Check client_id, client_secret and scopes of its `auth`.",
    );
  }
  const seconds = Number(said["expires_in"]);
  return {
    access: token,
    ...(typeof said["refresh_token"] === "string" && { refresh: said["refresh_token"] }),
    ...(Number.isFinite(seconds) && seconds > 0 && { expiresAt: Date.now() + seconds * 1_000 }),
  };
}

const isFresh = ({ expiresAt }: Token): boolean => expiresAt === undefined || expiresAt - EARLY_MS > Date.now();

function parseToken(value: unknown): Token | undefined {
  if (!isRecord(value) || typeof value["access"] !== "string") return undefined;
  return {
    access: value["access"],
    ...(typeof value["refresh"] === "string" && { refresh: value["refresh"] }),
    ...(typeof value["expiresAt"] === "number" && { expiresAt: value["expiresAt"] }),
  };
}
