import { createInterface } from "node:readline";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { reveal } from "../../core/text/sanitize.ts";
import { describeServer, type McpServer, serverProblem } from "../../core/vocabulary/mcp-server.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { stopped } from "../../runtime/async/cancel.ts";
import { createGuardedOpen } from "../../runtime/network/guarded-request.ts";
import { openBrowser } from "../../runtime/network/open-browser.ts";
import { type LoginSpec, logIn } from "../../tools/mcp/login.ts";
import { openLogins } from "../../tools/mcp/logins.ts";
import { type LogoutSpec, logOut } from "../../tools/mcp/logout.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";
import { onSignals } from "../terminal/signals.ts";
import { homes } from "../base/home.ts";
import { serverNamed } from "./named.ts";

/** `subcrew mcp login SERVER`: logs in to a server through the browser. */
export async function login([name = ""]: readonly string[], flags: Flags): Promise<number> {
  const crew = await crewFor(flags);
  const server = serverAt(name, crew);
  const stop = new AbortController();
  const signals = onSignals({ pause: (reason) => stop.abort(stopped(reason)) });
  try {
    const isNew = await logIn({
      ...partsOf(server, crew),
      name,
      signal: stop.signal,
      show: async (url, at) => {
        say(`${name}: ${crew.masked(describeServer(server))}\nLog in at ${at}, in a browser:\n\n${url}\n`);
        const opened =
          flags.browser !== false &&
          (await openBrowser(url, { env: process.env, cwd: crew.cwd, platform: process.platform }));
        say(
          opened
            ? "The address was opened in your browser. Waiting for the login to finish ..."
            : "Waiting for the login to finish ...",
        );
        if (process.stdin.isTTY)
          say("If the browser runs on another machine, paste the last address that it shows here, and press Enter.");
      },
      ...(process.stdin.isTTY && { pasted: typedLines }),
    });
    const text = isNew ? `Logged in to ${name}.` : `${name} does not require a login.`;
    tell(flags, { name, login: isNew ? "logged in" : "not needed" }, text);
    return 0;
  } catch (error) {
    const code = signals.code();
    if (code === undefined) throw error;
    say("The login was cancelled.");
    return code;
  } finally {
    signals.stop();
  }
}

/** `subcrew mcp logout SERVER`: deletes a login, and revokes it if the server supports that. */
export async function logout([name = ""]: readonly string[], flags: Flags): Promise<number> {
  const crew = await crewFor(flags);
  const server = serverAt(name, crew);
  const state = await logOut({ ...partsOf(server, crew), signal: AbortSignal.timeout(LOGOUT_MS) });
  tell(flags, { name, login: state }, WORDS[state](name));
  return 0;
}

const LOGOUT_MS = 30_000;
const WORDS: Readonly<Record<Awaited<ReturnType<typeof logOut>>, (name: string) => string>> = {
  "not logged in": (name) => `You are not logged in to ${name}.`,
  revoked: (name) => `Logged out of ${name}.`,
  forgotten: (name) => `Logged out of ${name}. Its tokens were deleted here, but the server did not revoke them.`,
};

function serverAt(name: string, crew: Crew): McpServer {
  const server = serverNamed(name, crew);
  const problem =
    serverProblem(server) ?? (server.url === undefined ? "the server is a local program and has no login" : undefined);
  if (problem === undefined) return server;
  throw new CrewError(
    "BAD_INPUT",
    `Cannot log in to "${name}": ${problem}.`,
    "Correct the definition of the server with `subcrew config edit`.",
  );
}

function partsOf(
  definition: McpServer,
  { settings }: Crew,
): Pick<LoginSpec & LogoutSpec, "definition" | "variables" | "open" | "logins"> {
  const { allowHosts, proxy, caFile } = settings.config.network ?? {};
  return {
    definition,
    variables: process.env,
    open: createGuardedOpen(defined({ allowHosts, proxy, caFile }), { env: process.env }),
    logins: openLogins({ home: homes().state, learn: () => {} }),
  };
}

/** Passes each typed line to `take`; returns a function that stops reading. */
function typedLines(take: (text: string) => void): () => void {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", take);
  return () => lines.close();
}

const say = (text: string): void => void process.stderr.write(`${text.split("\n").map(reveal).join("\n")}\n`);

const tell = ({ json }: Flags, data: object, text: string): void =>
  void process.stdout.write(json ? `${jsonText(data)}\n` : `${text}\n`);
