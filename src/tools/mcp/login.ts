import { isPrivateWay } from "../../core/net/loopback-host.ts";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import { defined } from "../../core/text/defined.ts";
import { isOAuthRefusal, signInWithBrowser } from "../../runtime/network/oauth.ts";
import { signInProblem, type CallbackOptions } from "../../runtime/network/sign-in-callback.ts";
import { authFetch } from "./auth-fetch.ts";
import { type ClientSdk, connectServer, loadClient } from "./client.ts";
import { type Challenge, type DiscoveredLogin, discoverLogin, refuseAnother, scopeFor } from "./discover-login.ts";
import { type HttpSpec, httpTransport } from "./http.ts";
import { type Login, type LoginNote, logsInByHeader, secretsOf } from "./login-note.ts";
import type { Logins } from "./logins.ts";
import { clientIn, endpointsOf, oauthClientOf } from "./oauth-client.ts";
import { logInAsProgram, signsInAsProgram } from "./program-login.ts";

export type LoginSpec = Omit<HttpSpec, "users"> &
  Pick<CallbackOptions, "pasted" | "patienceMs" | "signal"> &
  Readonly<{
    name: string;
    logins: Logins;
    /** Shows a person the URL to open; `at` is its host. */
    show(url: string, at: string): void | Promise<void>;
  }>;

/**
 * Logs in to a server of the user's settings: discovers the authorization server, registers a client unless the
 * settings name one, and waits for the browser. False when the server needs no login. Error messages contain no secret.
 */
export async function logIn(spec: LoginSpec): Promise<boolean> {
  const { name, definition, logins, signal } = spec;
  const url = new URL(definition.url ?? "");
  const secrets: string[] = [];
  try {
    if (logsInByHeader(definition))
      throw new Error("the settings of the server have an authorization header, which is used instead");
    if (!isPrivateWay(url)) throw new Error("no token is sent to an address that is not https");
    const sdk = await loadClient();
    const note = await logins.look(url.href);
    const challenge = await challengeOf(sdk, spec, note);
    if (!challenge) return false;
    const fetch = authFetch({ open: spec.open, own: url, signal });
    if (signsInAsProgram(definition)) {
      const { variables } = spec;
      const login = await logInAsProgram(sdk, { name, definition, variables, challenge, note, fetch, signal });
      await logins.keep(url.href, login, signal);
      return true;
    }
    const found = await discoverLogin(sdk, { url, challenge, fetch });
    refuseAnother(name, note, found);
    const login = await inBrowser(sdk, { spec, found, fetch, secrets, scope: scopeFor(definition, found, note) });
    await logins.keep(url.href, login, signal);
    return true;
  } catch (error) {
    if (isCrewError(error)) throw error;
    const why = createRedactor(secrets).text(reasonOf(error)).replace(/\s+/g, " ").slice(0, MOST_REASON);
    throw new CrewError(
      "LOGIN_FAILED",
      `The login to "${name}" failed: ${why.replace(/\.$/, "")}.`,
      hintFor(error, spec),
    );
  }
}

const MOST_REASON = 400;

/** The authentication challenge of a server for a request without a login; `undefined` when there is none. */
async function challengeOf(
  sdk: ClientSdk,
  spec: LoginSpec,
  note: LoginNote | undefined,
): Promise<Challenge | undefined> {
  let asked: Challenge | undefined;
  const auth = {
    token: async () => undefined,
    onUnauthorized: async ({ response }: { response: Response }) => {
      asked = sdk.extractWWWAuthenticateParams(response);
      throw new Error("the server requires a login");
    },
  };
  try {
    const session = await connectServer(sdk, httpTransport(sdk, { ...spec, users: true }, { auth }), spec.signal);
    await session.close();
  } catch (error) {
    if (!asked) throw error;
  }
  // Some servers demand a login only when a tool is called, and some only in their metadata.
  return asked ?? (note?.wanted || note?.login || spec.definition.oauth ? {} : undefined);
}

type Going = Readonly<{
  spec: LoginSpec;
  found: DiscoveredLogin;
  scope: string | undefined;
  fetch: typeof fetch;
  /** Collects the secrets of the login, for redaction. */
  secrets: string[];
}>;

async function inBrowser(sdk: ClientSdk, { spec, found, scope, fetch, secrets }: Going): Promise<Login> {
  const { definition, variables, signal, patienceMs, pasted, show } = spec;
  const port = definition.oauth?.callbackPort;
  const configured = clientIn(definition, variables);
  if (configured?.client_secret !== undefined) secrets.push(configured.client_secret);
  if (!configured && found.metadata && found.metadata.registration_endpoint === undefined) throw noRegistration(spec);
  let client = configured;
  const tokens = await signInWithBrowser({
    server: endpointsOf(found),
    fetch,
    signal,
    scope,
    resource: found.resource,
    waiting: {
      port: port ?? 0,
      host: port === undefined ? "127.0.0.1" : "localhost",
      ...defined({ patienceMs, pasted }),
    },
    client: async (redirectUrl) => {
      client ??= await sdk.registerClient(found.server, {
        ...registrationOf(found),
        ...defined({ scope }),
        clientMetadata: ourselves(redirectUrl),
        fetchFn: fetch,
      });
      if (client.client_secret !== undefined) secrets.push(client.client_secret);
      return oauthClientOf(client);
    },
    show: (address) => show(address, found.issuer),
    learn: (secret) => void secrets.push(secret),
  });
  const { issuer, server, metadata, resource } = found;
  const login: Login = {
    issuer,
    server,
    ...defined({ metadata, resource }),
    ...(configured
      ? { clientId: definition.oauth!.clientId, client: { client_id: configured.client_id } }
      : { client: client! }),
    tokens: { ...defined({ scope }), ...tokens },
  };
  secrets.push(...secretsOf(login));
  return login;
}

/** Converts the metadata of an authorization server to the form that the MCP library's client registration expects. */
const registrationOf = ({ metadata }: DiscoveredLogin) =>
  metadata && { metadata: metadata as NonNullable<Parameters<ClientSdk["registerClient"]>[1]["metadata"]> };

/**
 * The description of subcrew that is sent when it registers as a client: a program on a person's machine, which cannot
 * keep a secret.
 */
const ourselves = (redirect: string) => ({
  client_name: "subcrew",
  redirect_uris: [redirect],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  application_type: "native" as const,
});

const noRegistration = ({ name }: LoginSpec): CrewError =>
  new CrewError(
    "LOGIN_FAILED",
    `The server "${name}" does not let programs register themselves.`,
    "Register a client at the server by hand, with http://localhost:PORT/callback as its redirect address, and write `oauth: { clientId, callbackPort }` into the settings of the server.",
  );

function reasonOf(error: unknown): string {
  if (!isOAuthRefusal(error) || error.description === undefined) return messageOf(error);
  return `${error.message}: ${error.description}`;
}

function hintFor(error: unknown, { name }: LoginSpec): string {
  if (signInProblem(error) === "PORT")
    return "Choose another oauth.callbackPort, or stop the program that listens there.";
  if (signInProblem(error)) return `Try again: \`subcrew mcp login ${name}\`.`;
  return "Check the `url` and `oauth` of the server in your settings; an existing key belongs in its `headers`.";
}
