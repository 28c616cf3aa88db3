import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import { defined } from "../../core/text/defined.ts";
import type { McpServer } from "../../core/vocabulary/mcp-server.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { createGuardedOpen } from "../../runtime/network/guarded-request.ts";
import type { McpSession } from "../../tools/mcp/client.ts";
import { openLogins } from "../../tools/mcp/logins.ts";
import { startServer } from "../../tools/mcp/start.ts";
import { homes } from "../base/home.ts";

type NamedServer = Readonly<{ name: string; definition: McpServer; crew: Pick<Crew, "cwd" | "settings" | "masked"> }>;

/** Starts a server of the settings, passes it to the callback, and ends it afterwards. */
export async function withServer<T>(
  { name, definition, crew: { cwd, settings, masked } }: NamedServer,
  use: (session: McpSession, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(60_000);
  const { passEnv, network } = settings.config;
  try {
    const started = await startServer(
      {
        name,
        definition,
        run: "trust",
        cwd,
        passed: passedEnv(process.env, passEnv ?? []),
        variables: process.env,
        users: true,
        over: signal,
        logins: openLogins({ home: homes().state, learn: () => {} }),
        open: createGuardedOpen(defined({ ...network }), { env: process.env }),
      },
      signal,
    );
    try {
      return await use(started, signal);
    } finally {
      await started.close();
    }
  } catch (cause) {
    if (isCrewError(cause)) throw cause;
    throw new CrewError(
      "WORKER_FAILED",
      `The server "${name}" could not be used: ${masked(messageOf(cause))}.`, // a server may repeat what it was sent
      "Correct the definition of the server with `subcrew config edit`.",
      { cause: cause instanceof Error ? masked(cause.stack ?? cause.message) : undefined },
    );
  }
}
