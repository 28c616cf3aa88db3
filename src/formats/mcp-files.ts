import { faultsOf } from "../core/schema/parse.ts";
import { defined } from "../core/text/defined.ts";
import { isRecord, scalarText } from "../core/text/json.ts";
import { type McpServer, mcpServers, serverProblem } from "../core/vocabulary/mcp-server.ts";
import { readJson } from "./yaml/json.ts";
import { readToml } from "./yaml/toml.ts";

/** A file in which another program stores its MCP servers. It is read only on request. */
export type McpFile = Readonly<{
  from: "claude" | "codex" | "cursor" | "vscode" | "gemini" | "opencode";
  /** Whether the path is relative to the project or to the user's home folder. */
  place: "project" | "home";
  path: string;
  /** The key under which the file lists the servers. */
  key: string;
}>;

/** All files in which other programs store MCP servers. A new program is one row. */
export const mcpFiles: readonly McpFile[] = [
  { from: "claude", place: "project", path: ".mcp.json", key: "mcpServers" },
  { from: "claude", place: "home", path: ".claude.json", key: "mcpServers" },
  { from: "codex", place: "project", path: ".codex/config.toml", key: "mcp_servers" },
  { from: "codex", place: "home", path: ".codex/config.toml", key: "mcp_servers" },
  { from: "cursor", place: "project", path: ".cursor/mcp.json", key: "mcpServers" },
  { from: "cursor", place: "home", path: ".cursor/mcp.json", key: "mcpServers" },
  { from: "vscode", place: "project", path: ".vscode/mcp.json", key: "servers" },
  { from: "gemini", place: "project", path: ".gemini/settings.json", key: "mcpServers" },
  { from: "gemini", place: "home", path: ".gemini/settings.json", key: "mcpServers" },
  { from: "opencode", place: "project", path: "opencode.json", key: "mcp" },
  { from: "opencode", place: "home", path: ".config/opencode/opencode.json", key: "mcp" },
];

/** A converted server definition, or why it cannot be converted. */
export type ReadServer = Readonly<{ name: string }> & (Readonly<{ server: McpServer }> | Readonly<{ problem: string }>);

/** The servers in the text of a file; throws when the text cannot be parsed. */
export function readMcpFile({ path, key }: Pick<McpFile, "path" | "key">, text: string): readonly ReadServer[] {
  const data = dataIn(path, text);
  const found = isRecord(data) ? data[key] : undefined;
  return isRecord(found) ? Object.entries(found).map(([name, raw]) => readServer(plainName(name), raw)) : [];
}

function dataIn(path: string, text: string): unknown {
  if (path.endsWith(".toml")) {
    const read = readToml(text);
    if ("data" in read) return read.data;
    throw new Error(read.problem.message);
  }
  const read = readJson(text);
  if (read.ok) return read.value;
  throw new Error(`line ${read.line}: ${read.reason}`);
}

/** A server name without special characters, because it becomes part of tool names. */
const plainName = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/_{2,}/g, "_")
    .replace(/^[^A-Za-z0-9]+|_+$/g, "");

function readServer(name: string, raw: unknown): ReadServer {
  if (!isRecord(raw)) return { name, problem: "the entry is not a server definition" };
  const asked = /\$\{input:(\w+)\}/.exec(JSON.stringify(raw))?.[1];
  if (asked !== undefined)
    return {
      name,
      problem: `the server prompts for "${asked}" when it starts; use \${NAME} to read a variable instead`,
    };
  if (raw["type"] === "sse") return { name, problem: "the server uses the old SSE transport, which is not supported" };
  const words: readonly unknown[] = [raw["command"] ?? []].flat();
  if (words.some((word) => typeof word !== "string"))
    return { name, problem: "the command has to be a text or a list of texts" };
  const server = serverIn(raw);
  const problem = faultsOf(mcpServers, { [name]: server }, "server")[0]?.message ?? serverProblem(server);
  return problem === undefined ? { name, server } : { name, problem };
}

type Raw = Readonly<Record<string, unknown>>;

/** Converts a server definition in any of the known spellings. */
function serverIn(raw: Raw): McpServer {
  const [command, ...first] = [raw["command"] ?? []].flat() as string[];
  const args = [...first, ...listIn(raw, "args")].map(variablesIn);
  const env = textsIn(raw, "env", "environment");
  const headers = { ...textsIn(raw, "headers", "http_headers"), ...headersFromVariables(raw) };
  const url = textIn(raw, "url", "httpUrl", "serverUrl");
  const tools = listIn(raw, "includeTools", "enabled_tools", "tools").filter((tool) => tool !== "*");
  const timeoutMs = timeoutIn(raw);
  const off = raw["disabled"] === true || raw["enabled"] === false;
  const cwd = textIn(raw, "cwd");
  const oauth = url === undefined ? {} : oauthIn(raw);
  return {
    ...(typeof command === "string" && { command: variablesIn(command) }),
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
    ...defined({ cwd }),
    ...(url !== undefined && { url: variablesIn(url) }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(oauth).length > 0 && { oauth }),
    ...(tools.length > 0 && { tools }),
    ...(off && { enabled: false }),
    ...defined({ timeoutMs }),
  };
}

/** Converts `$NAME`, `{env:NAME}` and `${env:NAME}` to `${NAME}`. */
const variablesIn = (text: string): string =>
  text.replace(
    /\$\{env:(\w+)\}|\{env:(\w+)\}|\$([A-Za-z_]\w*)/g,
    (_, a?: string, b?: string, c?: string) => `\${${a ?? b ?? c}}`,
  );

function textsIn(raw: Raw, ...keys: readonly string[]): Record<string, string> {
  const found = keys.map((key) => raw[key]).find(isRecord) ?? {};
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, variablesIn(scalarText(value))]));
}

function headersFromVariables(raw: Raw): Record<string, string> {
  const bearer = raw["bearer_token_env_var"];
  const named = isRecord(raw["env_http_headers"]) ? Object.entries(raw["env_http_headers"]) : [];
  return {
    ...(typeof bearer === "string" && { authorization: `Bearer \${${bearer}}` }),
    ...Object.fromEntries(named.map(([name, variable]) => [name, `\${${scalarText(variable)}}`])),
  };
}

/**
 * Reads the OAuth settings of Claude Code, Gemini CLI and opencode (`oauth`), Cursor (`auth`), and Codex
 * (`oauth.client_id`, `scopes`).
 */
function oauthIn(raw: Raw): NonNullable<McpServer["oauth"]> {
  const written = [raw["oauth"], raw["auth"]].find(isRecord) ?? {};
  const clientId = textIn(written, "clientId", "client_id", "CLIENT_ID");
  const clientSecret = textIn(written, "clientSecret", "client_secret", "CLIENT_SECRET");
  const scopes = [...scopesIn(written), ...(typeof raw["scopes"] === "object" ? scopesIn(raw) : [])];
  const callbackPort = written["callbackPort"] ?? portIn(textIn(written, "redirectUri", "callback_url"));
  return {
    ...(clientId !== undefined && { clientId: variablesIn(clientId) }),
    ...(clientId !== undefined && clientSecret !== undefined && { clientSecret: variablesIn(clientSecret) }),
    ...(scopes.length > 0 && { scopes }),
    ...(typeof callbackPort === "number" && { callbackPort }),
  };
}

const scopesIn = (raw: Raw): string[] => [
  ...listIn(raw, "scopes"),
  ...(textIn(raw, "scopes", "scope") ?? "").split(/\s+/).filter((word) => word !== ""),
];

/** The port of a redirect URL, if subcrew would use the same URL. */
function portIn(url: string | undefined): number | undefined {
  const port = /^http:\/\/localhost:(\d{1,5})\/callback$/.exec(url ?? "")?.[1];
  return port === undefined ? undefined : Number(port);
}

const textIn = (raw: Raw, ...keys: readonly string[]): string | undefined =>
  keys.map((key) => raw[key]).find((value): value is string => typeof value === "string" && value !== "");

const listIn = (raw: Raw, ...keys: readonly string[]): string[] =>
  (keys.map((key) => raw[key]).find(Array.isArray) ?? []).filter((each): each is string => typeof each === "string");

function timeoutIn(raw: Raw): number | undefined {
  const [ms, seconds] = [raw["timeout"], raw["tool_timeout_sec"]];
  if (typeof ms === "number" && ms >= 1) return Math.round(ms);
  return typeof seconds === "number" && seconds > 0 ? Math.round(seconds * 1_000) : undefined;
}
