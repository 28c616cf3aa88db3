import { isPrivateWay } from "../../core/net/loopback-host.ts";
import { CrewError } from "../../core/schema/error.ts";
import { isFresh } from "../../runtime/network/oauth.ts";
import { authFetch } from "./auth-fetch.ts";
import type { ClientSdk, McpAuth } from "./client.ts";
import type { Challenge } from "./discover-login.ts";
import type { HttpSpec } from "./http.ts";
import { type Login, loginIn } from "./login-note.ts";
import type { Logins } from "./logins.ts";
import { clientIn, renewalBy } from "./oauth-client.ts";
import { logInAsProgram, signsInAsProgram } from "./program-login.ts";

export type BearerSpec = HttpSpec &
  Readonly<{
    name: string;
    /** The stored logins of the user; absent for servers that are not in the user's settings. */
    logins?: Logins;
    /** Aborts all requests that are running. */
    over: AbortSignal;
    clock?(): number;
  }>;

/** The authentication of a server connection. */
export type Bearer = Readonly<{
  auth: McpAuth;
  /**
   * Wraps a fetch to remember the token of each request. Several requests run at once, and one of them may have renewed
   * the token meanwhile.
   */
  watch(inner: typeof fetch): typeof fetch;
  /** Throws a readable error instead of a library error that is about the login. */
  explain(error: unknown): Promise<never>;
}>;

/** Sends the token of the user's login and renews it. It never starts a login, which is a separate command. */
export function createBearer(sdk: ClientSdk, spec: BearerSpec): Bearer {
  const { name, definition, variables, open, logins, over, clock = Date.now } = spec;
  const url = definition.url ?? "";
  const own = new URL(url);
  const sent = new WeakMap<Response, string>();
  let held: Login | undefined;
  const look = async (): Promise<Login | undefined> => loginIn(await logins?.look(url), definition);
  const renew = async (refused: string | undefined): Promise<Login | undefined> => {
    const fetch = authFetch({ open, own, signal: over });
    const how = renewalBy({ fetch, signal: over, client: clientIn(definition, variables), clock });
    if (!(await look())) return undefined;
    return logins?.renew(url, refused, how, over);
  };
  let obtaining: Promise<Login> | undefined;
  /** One login for all requests that were refused at the same time. */
  const obtain = (challenge: Challenge): Promise<Login> =>
    (obtaining ??= (async () => {
      const fetch = authFetch({ open, own, signal: over });
      const note = await logins?.look(url);
      const signIn = { name, definition, variables, challenge, note, fetch, signal: over, clock };
      const login = await logInAsProgram(sdk, signIn);
      await logins?.keep(url, login, over);
      return login;
    })().finally(() => {
      obtaining = undefined;
    }));
  const asProgram = logins !== undefined && signsInAsProgram(definition);
  const refusal = async (scope?: string): Promise<never> => {
    if (!isPrivateWay(own))
      throw new Error("the server requires a login, and no token is sent to an address that is not https");
    await logins?.want(url, scope, over);
    if (asProgram) throw refusedProgram(name);
    throw logins ? needsLogin(name) : cannotLogIn(name);
  };
  return {
    auth: {
      token: async () => {
        if (!logins || !isPrivateWay(own)) return undefined;
        held ??= await look();
        if (asProgram) return held && isFresh(held.tokens, clock()) ? held.tokens.access : undefined;
        if (!held || held.tokens.refresh === undefined || isFresh(held.tokens, clock())) return held?.tokens.access;
        // If the renewal fails temporarily, the old token is used, because it may still be valid.
        held = await renew(held.tokens.access).catch(() => held);
        return held?.tokens.access;
      },
      onUnauthorized: async ({ response }) => {
        if (asProgram && isPrivateWay(own)) {
          if (held === undefined || held.tokens.access === sent.get(response) || !isFresh(held.tokens, clock()))
            held = await obtain(sdk.extractWWWAuthenticateParams(response));
          return;
        }
        held = isPrivateWay(own) ? await renew(sent.get(response)) : undefined;
        if (!held) await refusal(sdk.extractWWWAuthenticateParams(response).scope);
      },
    },
    watch: (inner) => async (input, init) => {
      const response = await inner(input, init);
      const token = /^Bearer (.*)$/.exec(new Headers(init?.headers).get("authorization") ?? "")?.[1];
      if (token !== undefined) sent.set(response, token);
      return response;
    },
    explain: async (error) => {
      if (sdk.InsufficientScopeError.isInstance(error)) return refusal(error.requiredScope);
      if (sdk.SdkHttpError.isInstance(error) && error.code === sdk.SdkErrorCode.ClientHttpAuthentication)
        return refusal();
      throw error;
    },
  };
}

const needsLogin = (name: string): CrewError =>
  new CrewError("NEEDS_LOGIN", `The MCP server "${name}" needs a login.`, `Log in with \`subcrew mcp login ${name}\`.`);

const refusedProgram = (name: string): CrewError =>
  new CrewError(
    "LOGIN_FAILED",
    `The MCP server "${name}" refuses the access token of the OAuth client in your settings.`,
    "Check the `scopes` under `oauth` of the server, and the permissions of the client at the server.",
  );

const cannotLogIn = (name: string): CrewError =>
  new CrewError(
    "NEEDS_LOGIN",
    `The MCP server "${name}" needs a login, which is possible only for servers in your own settings.`,
    `Add the server to your settings, name it in the agent's file, and log in with \`subcrew mcp login ${name}\`.`,
  );
