import { randomBytes } from "node:crypto";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { type McpServer, serverProblem } from "../../core/vocabulary/mcp-server.ts";
import { startChild } from "../../runtime/commands/child.ts";
import { safePath } from "../../runtime/commands/commands.ts";
import type { GuardedOpen } from "../../runtime/network/guarded-request.ts";
import { createBearer } from "./bearer.ts";
import { type ClientSdk, connectServer, loadClient, type McpSession, type McpTransport } from "./client.ts";
import { withContentTools } from "./content-tools.ts";
import { filledAll, fillVariables, type Variables } from "./fill-in.ts";
import { httpTransport } from "./http.ts";
import { logsInByHeader } from "./login-note.ts";
import type { Logins } from "./logins.ts";
import { childTransport } from "./talk.ts";
import { isProgram } from "../../runtime/disk/is-program.ts";

/** A server to start, with the origin of its definition. */
export type StartSpec = Readonly<{
  name: string;
  definition: McpServer;
  /** The run id, which is in the environment of the started processes, to find them. */
  run: string;
  /** The working folder of the server. */
  cwd: string;
  /** The environment variables that programs get. */
  passed: Readonly<Record<string, string>>;
  /** The variables that `${NAME}` in the definition may refer to. */
  variables: Variables;
  /** True when the user configured the address, so that it may be on this machine. */
  users: boolean;
  /** The user's logins, for a server of the user's settings. */
  logins?: Logins;
  open: GuardedOpen;
  /** Aborts when the server is no longer needed. */
  over: AbortSignal;
}>;

/** A connected server, and the end of its stderr if it is a program. */
export type StartedServer = McpSession & Readonly<{ complaint(): string }>;

const MOST_COMPLAINT = 500;

/** Starts a server and connects to it. On failure throws a readable error and leaves no process running. */
export async function startServer(spec: StartSpec, signal: AbortSignal): Promise<StartedServer> {
  const problem = serverProblem(spec.definition);
  if (problem !== undefined) throw new Error(problem);
  return spec.definition.command === undefined ? overHttp(spec, signal) : asProgram(spec, signal);
}

const connect = async (sdk: ClientSdk, transport: McpTransport, signal: AbortSignal): Promise<McpSession> =>
  withContentTools(await connectServer(sdk, transport, signal));

async function asProgram(
  { name, definition, run, cwd, passed, variables }: StartSpec,
  signal: AbortSignal,
): Promise<StartedServer> {
  const sdk = await loadClient();
  const path = safePath(passed["PATH"], [cwd]);
  const id = `${run}/mcp-${name}-${randomBytes(6).toString("hex")}`;
  const child = startChild({
    file: programAt(definition.command ?? "", path, cwd),
    args: (definition.args ?? []).map((word) => fillVariables(word, variables)),
    cwd: resolve(cwd, definition.cwd ?? "."),
    env: { ...passed, PATH: path, ...filledAll(definition.env, variables), SUBCREW_RUN: id },
    marker: `SUBCREW_RUN=${id}`,
    talks: true,
  });
  const complaint = (): string => child.output.text().trim().slice(-MOST_COMPLAINT);
  try {
    const session = await connect(sdk, childTransport(sdk, child), signal);
    return { ...session, complaint };
  } catch (error) {
    await child.kill(0);
    const { problem, code } = await child.ended;
    const why = problem ?? (code === undefined ? undefined : `the program ended with ${code}`);
    const words = [why, complaint()].filter((part) => part !== undefined && part !== "");
    throw words.length === 0 ? error : new Error(words.join(": "), { cause: error });
  }
}

async function overHttp(spec: StartSpec, signal: AbortSignal): Promise<StartedServer> {
  const sdk = await loadClient();
  const complaint = (): string => "";
  if (logsInByHeader(spec.definition))
    return { ...(await connect(sdk, httpTransport(sdk, spec, {}), signal)), complaint };
  const bearer = createBearer(sdk, spec);
  const { explain } = bearer;
  const session = await connect(sdk, httpTransport(sdk, spec, bearer), signal).catch(explain);
  return {
    ...session,
    tools: (stop, timeoutMs) => session.tools(stop, timeoutMs).catch(explain),
    call: (name, args, options) => session.call(name, args, options).catch(explain),
    complaint,
  };
}

/**
 * The path of a program. A name without a path is searched in PATH, but not in folders inside of the workspace; a path
 * is used as it is.
 */
function programAt(command: string, path: string, cwd: string): string {
  if (isAbsolute(command)) return command;
  if (command.includes("/")) return resolve(cwd, command);
  const found = path
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find(isProgram);
  if (found === undefined) throw new Error(`the program "${command}" was not found`);
  return found;
}
