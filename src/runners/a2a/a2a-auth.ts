import { z } from "zod";
import { isPrivateWay } from "../../core/net/loopback-host.ts";
import { defined } from "../../core/text/defined.ts";
import { checkHeaders } from "../../runtime/network/web-headers.ts";
import type { TokenFiles } from "../../runtime/network/token-files.ts";
import { remoteFailure, statusFailure } from "./a2a-fault.ts";
import { createOAuth, oauthScheme, type SignIn } from "./a2a-oauth.ts";
import { type SecretSource, secretLabel, secretOf } from "./a2a-secret.ts";

const secret = z.string().min(1);

/** The authentication schemes in agent files of Gemini CLI and subcrew; keys are case-insensitive. */
const schemes = {
  apiKey: z.strictObject({
    type: z.literal("apiKey"),
    key: secret,
    name: z.string().min(1).optional(),
    in: z.enum(["header", "query", "cookie"]).optional(),
  }),
  http: z.strictObject({
    type: z.literal("http"),
    scheme: z.string().min(1),
    token: secret.optional(),
    username: secret.optional(),
    password: secret.optional(),
    value: secret.optional(),
  }),
  bearer: z.strictObject({ type: z.literal("bearer"), token: secret }),
  basic: z.strictObject({ type: z.literal("basic"), username: secret, password: secret }),
  oauth: oauthScheme,
} as const;

type Scheme = z.infer<(typeof schemes)[keyof typeof schemes]>;
type Simple = Exclude<Scheme, { type: "oauth" }>;

/** Authentication data added to a request. */
export type Credential = Readonly<{
  headers?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
}>;

/** Credentials for one remote agent; kept as long as the crew, so that a token is requested once. */
export type Credentials = Readonly<{
  /** The sources of the secrets, for the approval question before anything is sent. */
  label: string;
  get(how: SignIn): Promise<Credential>;
  /** Invalidates credentials that were refused. False when new credentials would be the same. */
  forget(): Promise<boolean>;
  /** Every secret that was used so far. */
  secrets: ReadonlySet<string>;
}>;

export type CredentialParts = SecretSource & Readonly<{ tokens?: TokenFiles }>;

/** The credentials that `auth` of an agent's file describes. Throws when `auth` is invalid. */
export function createCredentials(auth: Readonly<Record<string, unknown>>, parts: CredentialParts): Credentials {
  const scheme = parseAuth(auth);
  const secrets = new Set<string>();
  const read = async (written: string, signal: AbortSignal): Promise<string> => {
    const value = await secretOf(written, parts, signal);
    secrets.add(value);
    return value;
  };
  const oauth =
    scheme.type === "oauth" ? createOAuth(scheme, { read, secrets, ...defined({ tokens: parts.tokens }) }) : undefined;
  const written = Object.entries(scheme).flatMap(([key, value]) =>
    SECRET_FIELDS.has(key) && typeof value === "string" ? [value] : [],
  );
  return {
    label: `${scheme.type === "http" ? scheme.scheme : scheme.type} with ${[...new Set(written.map(secretLabel))].join(", ") || "a sign-in"}`,
    secrets,
    get: async (how) => {
      if (oauth) return { headers: { authorization: `Bearer ${await oauth.token(how)}` } };
      return simple(scheme as Simple, how, (text) => read(text, how.signal));
    },
    forget: async () => {
      if (oauth) return oauth.forget();
      return written.some((text) => /^!(?!!)/.test(text)); // only the output of a command may change from one call to the next
    },
  };
}

const SECRET_FIELDS: ReadonlySet<string> = new Set(["key", "token", "password", "value", "clientSecret"]);

async function simple(
  scheme: Simple,
  { schemes }: SignIn,
  read: (text: string) => Promise<string>,
): Promise<Credential> {
  switch (scheme.type) {
    case "apiKey": {
      const named = schemes?.find((each) => each.type === "apiKey");
      const name = scheme.name ?? named?.name ?? "X-API-Key";
      const place = scheme.in ?? named?.in ?? "header";
      const value = await read(scheme.key);
      if (place === "query") return { query: { [name]: value } };
      return { headers: place === "cookie" ? { cookie: `${name}=${value}` } : { [name]: value } };
    }
    case "bearer":
      return { headers: { authorization: `Bearer ${await read(scheme.token)}` } };
    case "basic":
      return { headers: { authorization: basic(await read(scheme.username), await read(scheme.password)) } };
    case "http": {
      const kind = scheme.scheme.toLowerCase();
      if (scheme.value !== undefined)
        return { headers: { authorization: `${scheme.scheme} ${await read(scheme.value)}` } };
      if (kind === "basic" && scheme.username !== undefined && scheme.password !== undefined)
        return { headers: { authorization: basic(await read(scheme.username), await read(scheme.password)) } };
      if (scheme.token !== undefined)
        return { headers: { authorization: `${scheme.scheme} ${await read(scheme.token)}` } };
      throw badAuth(
        `http with the scheme ${scheme.scheme} needs ${kind === "basic" ? "username and password" : "a token or a value"}`,
      );
    }
  }
}

const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;

function parseAuth(auth: Readonly<Record<string, unknown>>): Scheme {
  const given = Object.fromEntries(Object.entries(auth).map(([key, value]) => [camel(key), value]));
  const type = given["type"] === "oauth2" ? "oauth" : given["type"];
  if (type === "google-credentials")
    throw badAuth(
      "google-credentials are not supported",
      "Write type: http, scheme: Bearer, token: '!gcloud auth print-access-token'.",
    );
  const schema =
    typeof type === "string" && Object.hasOwn(schemes, type) ? schemes[type as keyof typeof schemes] : undefined;
  if (!schema) throw badAuth(`\`type\` has to be one of ${Object.keys(schemes).join(", ")}`);
  const parsed = schema.safeParse({ ...given, type });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw badAuth(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not valid"}`);
}

const camel = (key: string): string => key.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());

const badAuth = (what: string, hint = "Correct `auth` in the agent's file; docs/a2a.md describes each type."): Error =>
  remoteFailure("REMOTE_AUTH", `the \`auth\` of the agent cannot be used: ${what}`, hint);

/**
 * A `fetch` that adds credentials. Secrets are sent only over https or to this machine. An error status throws, unless
 * the A2A protocol handles it. After one refusal, the request is repeated with fresh credentials.
 */
export function signedFetch(inner: typeof fetch, credentials: Credentials | undefined, how: SignIn): typeof fetch {
  const once = async (url: string, init: RequestInit): Promise<Response> => {
    const credential = credentials ? await credentials.get(how) : {};
    const at = new URL(url);
    if (credentials && !isPrivateWay(at))
      throw remoteFailure(
        "REMOTE_AUTH",
        `${at.host} does not use https, so no secret is sent to it`,
        "Use the https address of the agent.",
      );
    for (const [name, value] of Object.entries(credential.query ?? {})) at.searchParams.set(name, value);
    checkHeaders(credential.headers ?? {}); // checked, because the agent card can choose the name of the header
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(credential.headers ?? {})) headers.set(name, value);
    return inner(at.href, { ...init, headers });
  };
  return async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    let response = await once(url, init);
    if ((response.status === 401 || response.status === 403) && (await credentials?.forget())) {
      await response.body?.cancel();
      response = await once(url, init);
    }
    return checked(response);
  };
}

/** Returns the response; throws for an error status that the A2A protocol does not handle. */
export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const body = await response.text().catch(() => "");
  if (/"jsonrpc"\s*:/.test(body) && /"error"\s*:/.test(body))
    return new Response(body, { status: response.status, headers: response.headers });
  throw statusFailure(response.status, { body, ...defined({ retryAfterMs: waitIn(response.headers) }) });
}

/** The wait that `Retry-After` names, in seconds or as a date; `undefined` for anything else. */
function waitIn(headers: Headers): number | undefined {
  const said = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d+$/.test(said) ? Number(said) * 1_000 : /^[a-z]{3},/i.test(said) ? Date.parse(said) - Date.now() : NaN;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
