import { createHash, type KeyObject, verify } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type WebServer, webServer } from "./web-server.ts";

/** Differences of an authorization server from a correct one. */
export type OAuthQuirks = {
  /** True: the server refuses the registration of clients. */
  closed?: boolean;
  /** The lifetime of a token in seconds. */
  lasts?: number;
  /** True: the server gives no refresh tokens. */
  once?: boolean;
  /** True: the person refuses the login. */
  denies?: boolean;
  /** The server authenticates its client by this key instead of a secret. */
  publicKey?: KeyObject;
  /** Changes of the server's metadata. */
  metadata?: object;
  /** Parameters that the server adds to the address to which it redirects the browser. */
  comesBackWith?: Record<string, string>;
  /** A replacement of the token endpoint, called with the parameters of the request. */
  token?(sent: URLSearchParams, response: ServerResponse): void;
};

export type OAuthServer = WebServer & {
  quirks: OAuthQuirks;
  issuer: string;
  /** Valid access tokens. */
  valid: Set<string>;
  /** Valid refresh tokens; each can be used once. */
  refreshes: Set<string>;
  grants: URLSearchParams[];
  registered: Record<string, unknown>[];
  revoked: string[];
  authorized: URLSearchParams[];
  /** Every secret that it ever issued. */
  given: string[];
};

/** A client that was registered by hand, in the form of the settings. */
export const KNOWN = { id: "known-client", secret: "known-client-secret" };

/** A correct authorization server: registration, PKCE, codes and refresh tokens that can be used once. */
export async function oauthServer(quirks: OAuthQuirks = {}): Promise<OAuthServer> {
  const codes = new Map<string, URLSearchParams>();
  const clients = new Map<string, string[]>([[KNOWN.id, []]]);
  const [valid, refreshes] = [new Set<string>(), new Set<string>()];
  const grants: URLSearchParams[] = [];
  const registered: Record<string, unknown>[] = [];
  const authorized: URLSearchParams[] = [];
  const [revoked, given]: [string[], string[]] = [[], []];
  let count = 0;
  const secret = (kind: string): string => {
    count += 1;
    const made = `${kind}-${count}-${createHash("sha256").update(`${kind}${count}`).digest("hex").slice(0, 24)}`;
    given.push(made);
    return made;
  };
  const form = (): URLSearchParams => new URLSearchParams(server.requests.at(-1)!.body);
  const knows = (request: IncomingMessage, sent: URLSearchParams): boolean => {
    const basic = Buffer.from((request.headers.authorization ?? "").replace("Basic ", ""), "base64").toString();
    const [id, password] = basic.includes(":") ? basic.split(":") : [sent.get("client_id"), sent.get("client_secret")];
    return id === KNOWN.id ? password === KNOWN.secret : clients.has(id ?? "");
  };
  const tokens = (): object => {
    const [access, refresh] = [secret("access"), secret("refresh")];
    valid.add(access);
    if (!quirks.once) refreshes.add(refresh);
    return {
      access_token: access,
      token_type: "Bearer",
      expires_in: quirks.lasts ?? 3600,
      ...(!quirks.once && { refresh_token: refresh }),
    };
  };
  const server: WebServer = await webServer({
    "/.well-known/oauth-authorization-server": (_, response) =>
      json(response, 200, {
        issuer: server.url("").replace(/\/$/, ""),
        authorization_endpoint: server.url("/authorize"),
        token_endpoint: server.url("/token"),
        revocation_endpoint: server.url("/revoke"),
        ...(!quirks.closed && { registration_endpoint: server.url("/register") }),
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        scopes_supported: ["notes", "offline_access"],
        ...quirks.metadata,
      }),
    "/register": (_, response) => {
      const asked = JSON.parse(server.requests.at(-1)!.body) as { redirect_uris: string[] };
      const id = `client-${registered.push(asked)}`;
      clients.set(id, asked.redirect_uris);
      json(response, 201, { ...asked, client_id: id });
    },
    "/authorize": ({ url = "" }, response) => {
      const params = new URL(url, "http://x").searchParams;
      authorized.push(params);
      const redirect = params.get("redirect_uri") ?? "";
      const allowed = clients.get(params.get("client_id") ?? "");
      if (!allowed || (allowed.length > 0 && !allowed.includes(redirect))) return json(response, 400, { error: "no" });
      const back = new URL(redirect);
      const code = secret("code");
      codes.set(code, params);
      const answer = quirks.denies ? { error: "access_denied" } : { code };
      const more = { ...answer, state: params.get("state") ?? "", ...quirks.comesBackWith };
      for (const [name, value] of Object.entries(more)) back.searchParams.set(name, value);
      response.writeHead(302, { location: back.href }).end();
    },
    "/token": (request, response) => {
      const sent = form();
      grants.push(sent);
      if (quirks.token) return quirks.token(sent, response);
      const known = quirks.publicKey
        ? isSignedBy(quirks.publicKey, sent.get("client_assertion") ?? "", server.url("").replace(/\/$/, ""))
        : knows(request, sent);
      if (!known) return json(response, 401, { error: "invalid_client", error_description: `not ${KNOWN.secret}` });
      if (sent.get("grant_type") === "client_credentials") {
        const { refresh_token: _none, ...only } = tokens() as { refresh_token?: string };
        return json(response, 200, only);
      }
      if (sent.get("grant_type") === "refresh_token")
        return refreshes.delete(sent.get("refresh_token") ?? "")
          ? json(response, 200, tokens())
          : json(response, 400, { error: "invalid_grant", error_description: `not ${sent.get("refresh_token")}` });
      const asked = codes.get(sent.get("code") ?? "");
      codes.delete(sent.get("code") ?? "");
      const proof = createHash("sha256")
        .update(sent.get("code_verifier") ?? "")
        .digest("base64url");
      const same = ["redirect_uri", "resource"].every((name) => asked?.get(name) === sent.get(name));
      if (!asked || !same || asked.get("code_challenge") !== proof)
        return json(response, 400, { error: "invalid_grant" });
      json(response, 200, tokens());
    },
    "/revoke": (_, response) => {
      revoked.push(form().get("token") ?? "");
      response.writeHead(200).end();
    },
  });
  const issuer = server.url("").replace(/\/$/, "");
  return { ...server, quirks, issuer, valid, refreshes, grants, registered, revoked, authorized, given };
}

/** An assertion of the known client for this server, signed with ES256. */
function isSignedBy(key: KeyObject, assertion: string, audience: string): boolean {
  const [head = "", body = "", signature = ""] = assertion.split(".");
  const claims = JSON.parse(Buffer.from(body, "base64url").toString() || "{}") as Record<string, unknown>;
  const bytes = Buffer.from(signature, "base64url");
  const meant = claims["iss"] === KNOWN.id && claims["sub"] === KNOWN.id && claims["aud"] === audience;
  return meant && verify("sha256", Buffer.from(`${head}.${body}`), { key, dsaEncoding: "ieee-p1363" }, bytes);
}

/** The HTTP responses of a server that requires an OAuth token, where they differ from the usual ones. */
export type ProtectedQuirks = {
  /** Changes of the protected server's metadata. */
  metadata?: object;
  /** The `scope` that the server names when it refuses a request without a valid token. */
  scope?: string;
  /** The additional scope that a call of the server's tool needs. */
  needs?: string;
  /** The address to which the server redirects every request. */
  sendsOn?: string;
};

export type ProtectedServer = WebServer & { address: string; quirks: ProtectedQuirks };

/**
 * A server of the official library that requires a token of this authorization server. Its tool returns the token of
 * the call.
 */
export async function protectedServer(oauth: OAuthServer, quirks: ProtectedQuirks = {}): Promise<ProtectedServer> {
  let bearer = "";
  const speak = toNodeHandler(
    createMcpHandler(() => {
      const made = new McpServer({ name: "protected", version: "1" });
      const shape = { description: "Says who is there.", inputSchema: z.object({}) };
      made.registerTool("whoami", shape, () => ({ content: [{ type: "text", text: `you with ${bearer}` }] }));
      return made;
    }),
  );
  const server: WebServer = await webServer({
    "/.well-known/oauth-protected-resource/mcp": (_, response) =>
      json(response, 200, {
        resource: server.url("/mcp"),
        authorization_servers: [oauth.issuer],
        scopes_supported: ["notes"],
        ...quirks.metadata,
      }),
    "/mcp": (request, response) => {
      const { body, headers } = server.requests.at(-1)!;
      if (quirks.sendsOn !== undefined) return void response.writeHead(307, { location: quirks.sendsOn }).end();
      bearer = (headers.authorization ?? "").replace("Bearer ", "");
      const more = quirks.scope === undefined ? "" : `, scope="${quirks.scope}"`;
      const about = `Bearer resource_metadata="${server.url("/.well-known/oauth-protected-resource/mcp")}"${more}`;
      if (!oauth.valid.has(bearer)) return void response.writeHead(401, { "www-authenticate": about }).end();
      if (quirks.needs !== undefined && body.includes("tools/call"))
        return void response
          .writeHead(403, { "www-authenticate": `Bearer error="insufficient_scope", scope="${quirks.needs}"` })
          .end();
      void speak(request as Parameters<typeof speak>[0], response, body === "" ? undefined : JSON.parse(body));
    },
  });
  return { ...server, address: server.url("/mcp"), quirks };
}

const TYPE = { "content-type": "application/json" };
export const json = (response: ServerResponse, status: number, value: object): void =>
  void response.writeHead(status, TYPE).end(JSON.stringify(value));
