import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import { defined } from "../../core/text/defined.ts";
import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { signInAsProgram } from "../../runtime/network/oauth.ts";
import type { ClientSdk } from "./client.ts";
import { type Challenge, discoverLogin, refuseAnother, scopeFor } from "./discover-login.ts";
import { fillVariables, type Variables } from "./fill-in.ts";
import type { Login, LoginNote } from "./login-note.ts";
import { clientIn, endpointsOf, oauthClientOf } from "./oauth-client.ts";

/** True when the settings sign in as a program (client credentials): no person and no browser is needed. */
export const signsInAsProgram = ({ oauth }: McpServer): boolean => oauth?.grant === "client-credentials";

export type ProgramLoginSpec = Readonly<{
  name: string;
  definition: McpServer;
  variables: Variables;
  challenge: Challenge;
  /** The stored data about earlier logins to the server. */
  note: LoginNote | undefined;
  fetch: typeof fetch;
  signal: AbortSignal;
  clock?(): number;
}>;

/**
 * Gets a token with the client id and the secret or key in the settings. They are sent to the authorization server that
 * the MCP server names first, and never to another server later. Error messages contain no secret.
 */
export async function logInAsProgram(sdk: ClientSdk, spec: ProgramLoginSpec): Promise<Login> {
  const { name, definition, variables, challenge, note, fetch, signal, clock } = spec;
  const secrets: string[] = [];
  try {
    const client = clientIn(definition, variables);
    if (!client) throw new Error("the `oauth` of the server has no clientId");
    const { privateKeyFile } = definition.oauth ?? {};
    const key = privateKeyFile === undefined ? undefined : await keyIn(fillVariables(privateKeyFile, variables));
    secrets.push(...[client.client_secret, key].filter((secret) => secret !== undefined));
    const found = await discoverLogin(sdk, { url: new URL(definition.url ?? ""), challenge, fetch });
    refuseAnother(name, note, found);
    const { issuer, server, metadata, resource } = found;
    const scope = scopeFor(definition, { ...found, hasOffline: false }, note);
    const tokens = await signInAsProgram(
      {
        server: endpointsOf(found),
        client: { ...oauthClientOf(client), key },
        fetch,
        signal,
        resource,
        ...defined({ clock }),
      },
      scope,
    );
    return {
      issuer,
      server,
      ...defined({ metadata, resource }),
      clientId: definition.oauth?.clientId,
      client: { client_id: client.client_id },
      tokens: { ...defined({ scope }), ...tokens },
    };
  } catch (error) {
    if (isCrewError(error)) throw error;
    const why = createRedactor(secrets).text(messageOf(error)).replace(/\s+/g, " ").slice(0, MOST_REASON);
    throw new CrewError(
      "LOGIN_FAILED",
      `The login to "${name}" with the client of your settings failed: ${why.replace(/\.$/, "")}.`,
      "Check `clientId`, the secret or key, and `scopes` in the `oauth` of the server.",
    );
  }
}

async function keyIn(file: string): Promise<string> {
  try {
    return await readRegularText(file);
  } catch {
    throw new Error(`the key file ${file} cannot be read`);
  }
}

const MOST_REASON = 400;
