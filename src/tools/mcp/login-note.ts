import { createHash } from "node:crypto";
import { z } from "zod";
import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import { isFresh } from "../../runtime/network/oauth.ts";

const text = z.string().min(1);

const tokens = z.object({
  access: text,
  refresh: text.optional(),
  expiresAt: z.number().optional(),
  scope: z.string().optional(),
});

/** A stored login: authorization server, client and tokens. The tokens are renewed only at that server. */
const login = z.object({
  issuer: text,
  /** The URL of the authorization server and its metadata. */
  server: text,
  metadata: z
    .looseObject({
      issuer: text,
      authorization_endpoint: text.optional(),
      token_endpoint: text,
      response_types_supported: z.array(z.string()),
      token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
      revocation_endpoint: text.optional(),
    })
    .optional(),
  /** The resource that the tokens are for. */
  resource: text.optional(),
  /** The `clientId` in the settings at the time of the login. */
  clientId: text.optional(),
  /**
   * The OAuth client. It has a secret only if subcrew registered the client; a secret in the user's settings stays
   * there.
   */
  client: z.looseObject({
    client_id: text,
    client_secret: z.string().optional(),
    token_endpoint_auth_method: z.string().optional(),
  }),
  tokens,
});
export type Login = Readonly<z.infer<typeof login>>;

const note = z.object({
  version: z.literal(1),
  url: text,
  /** Set when the server refused the login: a new login with these scopes is needed. */
  wanted: z.object({ scope: z.string().optional() }).optional(),
  login: login.optional(),
});

/** The stored data about the login to one address. */
export type LoginNote = Readonly<Omit<z.infer<typeof note>, "version">>;

/** Parses a stored login for exactly this address; anything else is ignored. */
export function parseNote(value: unknown, url: string): LoginNote | undefined {
  const parsed = note.safeParse(value);
  return parsed.success && parsed.data.url === url ? parsed.data : undefined;
}

/** The full address of a login, since other paths of a host may belong to another owner. */
export function loginAddress(url: string): string {
  const at = new URL(url);
  at.hash = "";
  return at.href;
}

export const noteKey = (address: string): string => createHash("sha256").update(address).digest("hex").slice(0, 32);

/** The stored login, unless the settings now name another client. */
export function loginIn(note: LoginNote | undefined, { oauth }: Pick<McpServer, "oauth">): Login | undefined {
  const made = note?.login;
  return made?.clientId === oauth?.clientId ? made : undefined;
}

/** The login state of a server; `undefined` when it is unknown. */
export function loginState(
  note: LoginNote | undefined,
  server: McpServer,
  now: number,
): "logged in" | "needs login" | undefined {
  if (server.url === undefined || logsInByHeader(server)) return undefined;
  const made = loginIn(note, server);
  if (made && (made.tokens.refresh !== undefined || isFresh(made.tokens, now))) return "logged in";
  return made || note?.wanted || note?.login || server.oauth ? "needs login" : undefined;
}

/** True when the settings authenticate to the server with an Authorization header. */
export const logsInByHeader = ({ headers = {} }: McpServer): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === "authorization");

/** The tokens and client secrets of a login, for redaction. */
export const secretsOf = ({ tokens: { access, refresh }, client }: Login): readonly string[] =>
  [access, refresh, client.client_secret].filter((secret) => secret !== undefined);
