import { describeServer, serverProblem } from "../../core/mcp-server.ts";
import { reveal } from "../../core/sanitize.ts";
import { openPins } from "../../tools/mcp/pins.ts";
import type { Flags } from "../flags.ts";
import { crewFor } from "../start.ts";
import { table } from "../table.ts";
import { terminal } from "../terminal.ts";
import { homes } from "./home.ts";

/** `subcrew mcp list`: what is known; nothing is started for it. */
export async function list(flags: Flags): Promise<number> {
  const { settings } = await crewFor(flags);
  const pins = openPins(homes().state);
  const rows = await Promise.all(
    Object.entries(settings.config.mcpServers ?? {}).map(async ([name, server]) => {
      const known = await pins.read(name, server);
      const problem = serverProblem(server);
      return {
        name,
        status: server.enabled === false ? "off" : (problem ?? (known ? "known" : "never used")),
        tools: known?.map((tool) => tool.name) ?? [],
        what: describeServer(server),
      };
    }),
  );
  if (flags.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  else if (rows.length === 0)
    process.stderr.write("No server is known yet. `subcrew mcp import` takes over those of other tools.\n");
  else {
    const shown = rows.map(({ name, status, tools, what }) => ({
      name,
      status,
      tools: tools.length === 0 ? "" : `${tools.length} tools`,
      what: reveal(what),
    }));
    process.stdout.write(table(shown, terminal(flags).look));
  }
  return 0;
}
