import { z } from "zod";
import { ALL_MCP_TOOLS, ALL_TOOLS, MCP_PREFIX } from "./tool-names.ts";

const text = z.string().min(1);
const texts = z.record(z.string(), z.string());

/** How to log in to an MCP server that does not let programs register themselves. */
const oauth = z.strictObject({
  clientId: text.optional().describe("OAuth client id; without one, subcrew registers itself with the server"),
  clientSecret: text.optional().describe("secret of clientId; $NAME is replaced by that environment variable"),
  privateKeyFile: text
    .optional()
    .describe("PEM file with the private key of clientId, instead of a secret; for grant: client-credentials"),
  grant: z
    .enum(["authorization-code", "client-credentials"])
    .optional()
    .describe(
      "authorization-code (default): a person logs in with a browser; client-credentials: the program logs in with clientId and its secret or key",
    ),
  scopes: z.array(text).optional().describe("OAuth scopes; default: those the server asks for"),
  callbackPort: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe("port of the login callback, http://localhost:PORT/callback; default: a free port of 127.0.0.1"),
});

/** An MCP server for agents: a program or a URL. A project's settings can only restrict it. */
export const mcpServer = z.strictObject({
  command: text.optional().describe("program that runs the server"),
  args: z.array(z.string()).optional().describe("arguments of the program"),
  env: texts
    .optional()
    .describe(
      "environment variables besides PATH, HOME and similar ones; ${NAME} is replaced by that variable of yours",
    ),
  cwd: text.optional().describe("folder to start the program in; default: the working folder"),
  url: text.optional().describe("URL of a remote server, instead of command"),
  headers: texts.optional().describe("headers of every request; ${NAME} is replaced by that environment variable"),
  oauth: oauth.optional().describe("login to the url; see `subcrew mcp login`"),
  tools: z.array(text).optional().describe("tools of the server to use; default: all"),
  enabled: z.boolean().optional().describe("false: the server is listed but never started"),
  timeoutMs: z.number().int().positive().optional().describe("timeout of one call, in milliseconds"),
});
export type McpServer = Readonly<z.infer<typeof mcpServer>>;

/** MCP servers by name; the names of a server's tools begin with the name of the server. */
export const mcpServers = z.record(
  z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9.-]*(?:_[A-Za-z0-9.-]+)*$/,
      "a name of letters, digits, dots, dashes and single underscores",
    ),
  mcpServer,
);
export type McpServers = Readonly<Record<string, McpServer>>;

/** The servers of an agent: definitions of servers, and `true` for each server that it only refers to. */
export type AgentServers = Readonly<Record<string, McpServer | true>>;

/** Maximum length of a tool name; providers accept no longer names, and only certain characters. */
const LONGEST_NAME = 64;

/** The name that subcrew gives to a tool of an MCP server. A hash makes equal names distinct. */
export function mcpToolName(server: string, tool: string, hash: (text: string) => string): string {
  const plain = `${MCP_PREFIX}${server}__${tool}`;
  const name = plain.replace(/[^A-Za-z0-9_-]/g, "_");
  if (name === plain && name.length <= LONGEST_NAME) return name;
  const mark = hash(plain).slice(0, 6);
  return `${name.slice(0, LONGEST_NAME - mark.length - 1)}_${mark}`;
}

/** Whether an agent's tool lists allow any tool of a server: if not, the server is not even started. */
export function couldUse(
  { tools, disallowedTools = [] }: Readonly<{ tools?: readonly string[]; disallowedTools?: readonly string[] }>,
  server: string,
): boolean {
  const whole = (pattern: string): boolean => [ALL_TOOLS, ALL_MCP_TOOLS, `${server}__*`].includes(pattern);
  if (disallowedTools.some(whole)) return false;
  return tools?.some((pattern) => whole(pattern) || pattern.startsWith(`${server}__`)) ?? true;
}

/** The entry of a tools list that allows every tool of an MCP server. */
export const wholeServer = (server: string): string => `${MCP_PREFIX}${server}__*`;

/** Describes an MCP server in one line, without the values of its variables and headers. */
export function describeServer({ command, args = [], url, env = {} }: McpServer): string {
  if (command === undefined) return url ?? "nothing";
  const names = Object.keys(env);
  const shown = [command, ...args].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)));
  return `${shown.join(" ")}${names.length > 0 ? ` (with ${names.join(", ")})` : ""}`;
}

/** Why an MCP server cannot be started, in words; `undefined`: the server can be started. */
export function serverProblem({ command, url, oauth: login }: McpServer): string | undefined {
  if (command === undefined && url === undefined) return "the server has neither a command nor a url";
  if (command !== undefined && url !== undefined) return "the server has both a command and a url";
  if (url !== undefined && !(/^https?:\/\//i.test(url) && URL.canParse(url)))
    return "the url of the server is not http or https";
  if (login && url === undefined) return "oauth needs a url, and the server has none";
  if (login?.clientSecret !== undefined && login.clientId === undefined)
    return "oauth has a clientSecret without a clientId";
  if (login?.grant === "client-credentials" && !(login.clientId && (login.clientSecret ?? login.privateKeyFile)))
    return "grant: client-credentials needs clientId and clientSecret or privateKeyFile";
  return undefined;
}

/** Replaces `${NAME}` and `${NAME:-default}` by variables; missing variables are returned. */
export function withVariables(
  written: string,
  variables: Readonly<Record<string, string | undefined>>,
): Readonly<{ text: string; missing: readonly string[] }> {
  const missing: string[] = [];
  const filled = written.replace(/\$\{(?:env:)?(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined && otherwise === undefined) missing.push(name);
    return value ?? otherwise ?? "";
  });
  return { text: filled, missing };
}
