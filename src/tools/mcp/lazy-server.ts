import { setTimeout as sleep } from "node:timers/promises";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import type { McpServer, McpServers } from "../../core/vocabulary/mcp-server.ts";
import type { GuardedOpen } from "../../runtime/network/guarded-request.ts";
import type { OfferedTool } from "./client.ts";
import type { Logins } from "./logins.ts";
import type { PinnedTool, Pins } from "./pins.ts";
import { type StartedServer, startServer } from "./start.ts";

/** The parts with which the MCP servers of a run are started. */
export type ServerParts = Readonly<{
  /** The servers in the user's settings. */
  servers: McpServers;
  pins: Pins;
  logins: Logins;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  passEnv: readonly string[];
  open: GuardedOpen;
}>;

/** An MCP server that is started at its first use, once per run. */
export type Lazy = Readonly<{
  name: string;
  definition: McpServer;
  /** Connects to the server, and restarts it a few times if it exits. */
  session(run: string, signal: AbortSignal): Promise<StartedServer>;
  /** The trusted tools of the server, without starting the server if they are known. */
  pinned(run: string, signal: AbortSignal): Promise<readonly PinnedTool[]>;
  /** Trusts the current version of a tool. */
  agree(tool: OfferedTool): Promise<void>;
  end(): Promise<void>;
}>;

/** Whether the definition of a server comes from the user's settings, and whether an agent lists it. */
export type ServerOrigin = Readonly<{ users: boolean; listed: boolean }>;

/** How many times a server that exits is started in a run, and the first delay before a restart. */
const MOST_STARTS = 4;
const BACKOFF_MS = 200;

/** Prepares an MCP server for a run without starting it. */
export function lazyServer(
  name: string,
  definition: McpServer,
  { pins, logins, cwd, env, passEnv, open, users, listed, over }: ServerParts & ServerOrigin & { over: AbortSignal },
): Lazy {
  const passed = passedEnv(env, passEnv);
  let current: Promise<StartedServer> | undefined;
  let starts = 0;
  const start = async (run: string, signal: AbortSignal): Promise<StartedServer> => {
    over.throwIfAborted();
    if (starts >= MOST_STARTS)
      throw new Error(`the server exited ${starts} times and is not started again in this run`);
    if (starts > 0) await sleep(BACKOFF_MS * 2 ** (starts - 1), undefined, { signal });
    starts += 1;
    const variables = users ? env : passed;
    const started = await startServer(
      { name, definition, run, cwd, passed, variables, users, open, over, ...(listed && { logins }) },
      signal,
    );
    void started.closed.then(() => {
      current = undefined; // the next call starts the server again
    });
    return started;
  };
  const session: Lazy["session"] = (run, signal) => {
    current ??= start(run, AbortSignal.any([signal, over])).catch((error: unknown) => {
      current = undefined;
      throw error;
    });
    return current;
  };
  let seen: Promise<readonly PinnedTool[]> | undefined;
  const look = async (run: string, signal: AbortSignal): Promise<readonly PinnedTool[]> => {
    const before = await pins.read(name, definition);
    if (before) return before;
    await pins.write(name, definition, await (await session(run, signal)).tools(signal));
    return (await pins.read(name, definition)) ?? [];
  };
  return {
    name,
    definition,
    session,
    pinned: (run, signal) =>
      (seen ??= look(run, signal).catch((error: unknown) => {
        seen = undefined;
        throw error;
      })),
    agree: async (tool) => {
      const others = ((await pins.read(name, definition)) ?? []).filter((each) => each.name !== tool.name);
      await pins.write(name, definition, [...others, tool]);
      seen = undefined;
    },
    end: async () => {
      const left = current;
      current = undefined;
      await left?.then(
        (started) => started.close(),
        () => {},
      );
    },
  };
}
