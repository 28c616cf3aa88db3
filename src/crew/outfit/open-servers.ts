import type { Redactor } from "../../core/secrets/redact.ts";
import type { PeerTools } from "../../core/task/mcp-tools.ts";
import { createGuardedOpen } from "../../runtime/network/guarded-request.ts";
import type { ServerParts } from "../../tools/mcp/lazy-server.ts";
import { type CrewSetup, homeOf } from "./setup.ts";

/** The MCP servers of a crew: each call opens those of one run. Their code is loaded when an agent has a server. */
export function openServers(setup: CrewSetup, { learn }: Pick<Redactor, "learn">): () => PeerTools {
  const { cwd, env, mcpServers: servers = {}, passEnv = [], network } = setup;
  const home = setup.home === false ? undefined : homeOf(setup);
  let shared: Promise<ServerParts> | undefined;
  const share = async (): Promise<ServerParts> => {
    const [{ openPins }, { openLogins }] = await Promise.all([
      import("../../tools/mcp/pins.ts"),
      import("../../tools/mcp/logins.ts"),
    ]);
    const open = createGuardedOpen(network, { env });
    return { servers, pins: openPins(home), logins: openLogins({ home, learn }), cwd, env, passEnv, open };
  };
  const openForRun = async (): Promise<PeerTools> => {
    const { createServers } = await import("../../tools/mcp/servers.ts");
    return createServers(await (shared ??= share()));
  };
  return () => {
    let opened: Promise<PeerTools> | undefined;
    return {
      toolsFor: async (asked) => {
        if (Object.keys({ ...servers, ...asked.agent.mcpServers }).length === 0) return [];
        return (await (opened ??= openForRun())).toolsFor(asked);
      },
      end: async () => (await opened)?.end(),
    };
  };
}
