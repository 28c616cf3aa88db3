import { createHash } from "node:crypto";
import { z } from "zod";
import { isPrivateWay } from "../../core/net/loopback-host.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import {
  isForeignAnswer,
  isFresh,
  isOAuthRefusal,
  type OAuthContext,
  type OAuthTokens,
  renewTokens,
  signInAsProgram,
  signInWithBrowser,
} from "../../runtime/network/oauth.ts";
import { type SignInProblem, signInProblem } from "../../runtime/network/sign-in-callback.ts";
import type { TokenFiles } from "../../runtime/network/token-files.ts";
import { remoteFailure } from "./a2a-fault.ts";
import type { CardScheme } from "./a2a-sdk.ts";

/** OAuth settings in the `auth` of an agent file. Missing fields are taken from the agent card. */
export const oauthScheme = z.strictObject({
  type: z.literal("oauth"),
  clientId: z.string().min(1),
  clientSecret: z.string().min(1).optional(),
  scopes: z.array(z.string()).optional(),
  authorizationUrl: z.url().optional(),
  tokenUrl: z.url().optional(),
  /** The local port to which the browser is redirected after the sign-in; by default a free port. */
  redirectPort: z.number().int().min(0).max(65_535).optional(),
});
type OAuthScheme = z.infer<typeof oauthScheme>;

/** The parts and functions that a sign-in uses. */
export type SignIn = Readonly<{
  /** The sign-in schemes in the agent card. */
  schemes?: readonly CardScheme[];
  /** A fetch that applies the network rules. */
  fetch: typeof fetch;
  /** Shows a person a URL to open; absent when the run is unattended. */
  show?(text: string): void;
  signal: AbortSignal;
}>;

type OAuthParts = Readonly<{
  read(written: string, signal: AbortSignal): Promise<string>;
  secrets: Set<string>;
  tokens?: TokenFiles;
}>;

/**
 * Signs in with OAuth 2: as a program with its own secret, or as a person in a browser (authorisation code with
 * PKCE).
 */
export function createOAuth(scheme: OAuthScheme, { read, secrets, tokens }: OAuthParts) {
  let held: OAuthTokens | undefined;
  let asking: Promise<OAuthTokens> | undefined;

  const keep = async (token: OAuthTokens, key: string): Promise<OAuthTokens> => {
    for (const secret of [token.access, token.refresh]) if (secret !== undefined) secrets.add(secret);
    held = token;
    await tokens?.write(key, token);
    return token;
  };
  const obtain = async (how: SignIn): Promise<OAuthTokens> => {
    const places = placesOf(scheme, how);
    const key = createHash("sha256")
      .update(JSON.stringify([places, scheme.clientId]))
      .digest("hex")
      .slice(0, 32);
    const context: OAuthContext = {
      server: { token_endpoint: places.tokenUrl, authorization_endpoint: places.authorizationUrl },
      client: {
        id: await read(scheme.clientId, how.signal),
        ...(scheme.clientSecret !== undefined && { secret: await read(scheme.clientSecret, how.signal) }),
      },
      fetch: how.fetch,
      signal: how.signal,
    };
    const known = held ?? parseToken(await tokens?.read(key));
    if (known && isFresh(known, Date.now())) return keep(known, key);
    if (known?.refresh !== undefined) {
      // A refresh token may have been revoked; if so, a new sign-in follows.
      const renewed = await renewTokens(context, known).catch(() => undefined);
      if (renewed) return keep(renewed, key);
    }
    const scope = places.scopes.length > 0 ? places.scopes.join(" ") : undefined;
    const signedIn =
      places.authorizationUrl === undefined
        ? signInAsProgram(context, scope)
        : inBrowser(context, { how, scope, port: scheme.redirectPort ?? 0, secrets });
    return keep(await signedIn.catch(explain), key);
  };
  return {
    token: async (how: SignIn): Promise<string> => {
      if (held && isFresh(held, Date.now())) return held.access;
      // Tasks that start at the same time share one sign-in.
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

/** The sign-in addresses: the addresses in the agent file, else the addresses in the card. */
function placesOf(scheme: OAuthScheme, { schemes }: SignIn): Places {
  const named = schemes?.find((each) => each.type === "oauth2");
  const tokenUrl = scheme.tokenUrl ?? named?.tokenUrl;
  const authorizationUrl =
    scheme.authorizationUrl ?? (scheme.clientSecret === undefined ? named?.authorizationUrl : undefined);
  if (!tokenUrl)
    throw remoteFailure(
      "REMOTE_AUTH",
      "neither `auth` nor the agent's card names the address that issues tokens",
      "Add token_url to `auth`.",
    );
  for (const url of [tokenUrl, ...(authorizationUrl === undefined ? [] : [authorizationUrl])])
    if (!URL.canParse(url) || !isPrivateWay(new URL(url)))
      throw remoteFailure(
        "REMOTE_AUTH",
        `${url} is not an https address, so no secret is sent there`,
        "Use the https address.",
      );
  if (authorizationUrl === undefined && scheme.clientSecret === undefined)
    throw remoteFailure(
      "REMOTE_AUTH",
      "`auth` has no client_secret and no authorization_url",
      "Add client_secret or authorization_url.",
    );
  return {
    tokenUrl,
    scopes: scheme.scopes ?? named?.scopes ?? [],
    ...defined({ authorizationUrl }),
  };
}

type BrowserParts = Readonly<{ how: SignIn; scope: string | undefined; port: number; secrets: Set<string> }>;

/** Lets a person sign in with a browser. */
function inBrowser(
  { client, ...context }: OAuthContext,
  { how: { show }, scope, port, secrets }: BrowserParts,
): Promise<OAuthTokens> {
  if (!show)
    throw remoteFailure(
      "NEEDS_ANSWER",
      "the agent needs a sign-in in a browser, which is possible only from a terminal",
      "Run the agent once in a terminal.",
    );
  return signInWithBrowser({
    ...context,
    scope,
    waiting: { port },
    client: () => client,
    show: (url) => show(`Open this address in a browser to sign in: ${url}`),
    learn: (secret) => void secrets.add(secret),
  });
}

/** Converts a sign-in error to a failure of the remote agent. */
function explain(error: unknown): never {
  const problem = signInProblem(error);
  if (problem) throw remoteFailure("REMOTE_AUTH", (error as Error).message, SIGN_IN_HINTS[problem]);
  if (isForeignAnswer(error)) throw remoteFailure("REMOTE_AUTH", (error as Error).message, SIGN_IN_HINTS.REFUSED);
  if (isOAuthRefusal(error))
    throw remoteFailure(
      "REMOTE_AUTH",
      error.message,
      "Check client_id, client_secret and scopes in `auth` of the agent's file.",
    );
  throw error;
}

const SIGN_IN_HINTS: Readonly<Record<SignInProblem, string>> = {
  PORT: "Choose another redirect_port.",
  REFUSED: "Run the agent again and sign in.",
  UNFINISHED: "Run the agent again and finish the sign-in in the browser.",
};

function parseToken(value: unknown): OAuthTokens | undefined {
  if (!isRecord(value) || typeof value["access"] !== "string") return undefined;
  return {
    access: value["access"],
    ...(typeof value["refresh"] === "string" && { refresh: value["refresh"] }),
    ...(typeof value["expiresAt"] === "number" && { expiresAt: value["expiresAt"] }),
  };
}
