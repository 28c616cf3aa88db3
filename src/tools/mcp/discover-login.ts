import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import type { ClientSdk } from "./client.ts";
import type { Login, LoginNote } from "./login-note.ts";

/** The part of a server's 401 response that says how to log in. */
export type Challenge = Readonly<{ resourceMetadataUrl?: URL; scope?: string }>;

/** The authorization server for logging in to an MCP server, and the scopes to request. */
export type DiscoveredLogin = Pick<Login, "issuer" | "server" | "metadata" | "resource"> &
  Readonly<{
    /** The scopes (permissions) that the server requests. */
    scope?: string;
    /** True when the server grants refresh tokens; without them a login ends with its first token. */
    hasOffline: boolean;
  }>;

export type DiscoverSpec = Readonly<{ url: URL; challenge: Challenge; fetch: typeof fetch }>;

/**
 * Finds the authorization server of an MCP server. The issuer in its metadata must match its address, and the metadata
 * of the MCP server must be about that server.
 */
export async function discoverLogin(sdk: ClientSdk, { url, challenge, fetch }: DiscoverSpec): Promise<DiscoveredLogin> {
  const {
    authorizationServerUrl: server,
    authorizationServerMetadata: metadata,
    resourceMetadata,
  } = await serverInfo(sdk, { url, challenge, fetch });
  const resource = resourceMetadata?.resource;
  const requestedResource = sdk.resourceUrlFromServerUrl(url);
  if (resource !== undefined && !sdk.checkResourceAllowed({ requestedResource, configuredResource: resource }))
    throw new Error(`the server asks for a login to ${resource}, which is not its own address`);
  const scope = challenge.scope ?? resourceMetadata?.scopes_supported?.join(" ");
  return {
    server,
    issuer: metadata?.issuer ?? server,
    ...defined({ metadata, resource }),
    ...(scope !== undefined && scope !== "" && { scope }),
    hasOffline: metadata?.scopes_supported?.includes("offline_access") ?? false,
  };
}

type ServerInfo = Awaited<ReturnType<ClientSdk["discoverOAuthServerInfo"]>>;

/**
 * The metadata for the login. A server of revision 2025-03-26 is its own authorization server, and the path of its
 * issuer may differ from the address of the metadata. For every other server the issuer must match that address.
 */
async function serverInfo(sdk: ClientSdk, { url, challenge, fetch }: DiscoverSpec): Promise<ServerInfo> {
  const options = { fetchFn: fetch, ...defined({ resourceMetadataUrl: challenge.resourceMetadataUrl }) };
  try {
    return await sdk.discoverOAuthServerInfo(url, options);
  } catch (error) {
    if (!(error instanceof sdk.IssuerMismatchError) || error.kind !== "metadata") throw error;
    const found = await sdk.discoverOAuthServerInfo(url, { ...options, skipIssuerMetadataValidation: true });
    const { resourceMetadata, authorizationServerMetadata: metadata, authorizationServerUrl: server } = found;
    const same = [server, metadata?.issuer ?? ""].every((at) => URL.canParse(at) && new URL(at).origin === url.origin);
    if (resourceMetadata !== undefined || !same) throw error;
    return found;
  }
}

/**
 * The scopes to request: the scopes in the settings, or else the scopes that the server requests, plus scopes missing
 * in an earlier login, plus offline access.
 */
export function scopeFor(
  { oauth }: McpServer,
  { scope, hasOffline }: DiscoveredLogin,
  note?: LoginNote,
): string | undefined {
  const wanted = [oauth?.scopes?.join(" ") ?? scope, note?.wanted?.scope].join(" ").split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return undefined;
  return [...new Set([...wanted, ...(hasOffline ? ["offline_access"] : [])])].join(" ");
}

/**
 * Refuses a changed authorization server: the MCP server must not redirect the user's password or the client secret.
 */
export function refuseAnother(name: string, note: LoginNote | undefined, { issuer }: DiscoveredLogin): void {
  const before = note?.login?.issuer;
  if (before === undefined || before === issuer) return;
  throw new CrewError(
    "LOGIN_FAILED",
    `The server "${name}" now asks for a login at ${issuer}; before, the login was at ${before}.`,
    `If this is intended, log out first: \`subcrew mcp logout ${name}\`.`,
  );
}
