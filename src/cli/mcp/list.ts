import { jsonText } from "../../core/text/json-text.ts";
import { reveal } from "../../core/text/sanitize.ts";
import { describeServer, serverProblem } from "../../core/vocabulary/mcp-server.ts";
import { loginState } from "../../tools/mcp/login-note.ts";
import { openLogins } from "../../tools/mcp/logins.ts";
import { openPins } from "../../tools/mcp/pins.ts";
import type { Flags } from "../base/flags.ts";
import { table } from "../base/table.ts";
import { stdoutLook } from "../base/terminal.ts";
import { crewFor } from "../launch/start.ts";
import { homes } from "../base/home.ts";

/** `subcrew mcp list`: lists the servers in the settings without starting them. */
export async function listServers(flags: Flags): Promise<number> {
  const { settings, masked } = await crewFor(flags);
  const { state: home } = homes();
  const pins = openPins(home);
  const logins = openLogins({ home, learn: () => {} });
  const found = await Promise.all(
    Object.entries(settings.config.mcpServers ?? {}).map(async ([name, server]) => {
      const known = await pins.read(name, server);
      const problem = serverProblem(server);
      const note = server.url === undefined || problem !== undefined ? undefined : await logins.look(server.url);
      const login = problem === undefined ? loginState(note, server, Date.now()) : undefined;
      return {
        name,
        status: server.enabled === false ? "off" : (problem ?? (known ? "known" : "never used")),
        ...(login && { login }),
        tools: known?.map((tool) => tool.name) ?? [],
        what: describeServer(server),
      };
    }),
  );
  const rows = masked(found);
  if (flags.json) process.stdout.write(`${jsonText(rows, 2)}\n`);
  else if (rows.length === 0)
    process.stderr.write("No MCP servers are configured. `subcrew mcp import` imports those of other programs.\n");
  else {
    const shown = rows.map(({ name, status, login = "", tools, what }) => ({
      name,
      status,
      login,
      tools: tools.length === 0 ? "" : `${tools.length} tools`,
      what: reveal(what),
    }));
    process.stdout.write(table(shown, stdoutLook(flags)));
  }
  return 0;
}
