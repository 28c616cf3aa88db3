import { showHidden, showHiddenInLine } from "../../core/agent/hidden-characters.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { describeServer } from "../../core/vocabulary/mcp-server.ts";
import type { OfferedTool } from "../../tools/mcp/client.ts";
import { openPins, type PinnedTool, toolHash } from "../../tools/mcp/pins.ts";
import { toolChanges, toolText } from "../../core/task/peer-tool-text.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";
import { confirm } from "../terminal/confirm.ts";
import { markedRows } from "../terminal/questions.ts";
import { homes } from "../base/home.ts";
import { serverNamed } from "./named.ts";
import { withServer } from "./with-server.ts";

/** `subcrew mcp trust SERVER`: shows the tools that a server offers now, and the changes since they were trusted. */
export async function trustServer([name = ""]: readonly string[], flags: Flags): Promise<number> {
  const crew = await crewFor(flags);
  const server = serverNamed(name, crew);
  const pins = openPins(homes().state);
  const before = (await pins.read(name, server)) ?? [];
  const now = await withServer({ name, definition: server, crew }, (session, signal) => session.tools(signal));
  const rows = statesOf(before, now);
  say(crew.masked(`${name}: ${describeServer(server)}`));
  for (const { tool, state, details } of rows) {
    say(`  ${state.padEnd(8)}${showHiddenInLine(`${tool.name}: ${firstLine(tool.description ?? "")}`)}`);
    if (details !== "") say(details.replace(/^/gm, "          "));
  }
  const changed = rows.filter(({ state }) => state !== "same");
  if (changed.length > 0) {
    if (!(await confirm("Trust these tools as they are now?", flags))) return 3;
    await pins.write(name, server, now);
  }
  const text = changed.length === 0 ? "Nothing has changed." : `${now.length} tools of ${name} are now trusted.`;
  process.stdout.write(
    flags.json
      ? `${jsonText({ name, tools: rows.map(({ tool, state }) => ({ name: tool.name, state })) })}\n`
      : `${text}\n`,
  );
  return 0;
}

/** Prints lines that contain words of the server; wrapped by the terminal, they could imitate another tool. */
function say(text: string): void {
  const columns = process.stderr.isTTY ? Math.max(20, process.stderr.columns - 1) : Number.POSITIVE_INFINITY;
  for (const line of sanitize(showHidden(text)).split("\n"))
    process.stderr.write(`${markedRows(line, columns).join("\n")}\n`);
}
const firstLine = (text: string): string => text.split("\n")[0]?.slice(0, 200) ?? "";

type State = "new" | "changed" | "same" | "gone";

function statesOf(
  before: readonly PinnedTool[],
  now: readonly OfferedTool[],
): readonly Readonly<{ tool: OfferedTool; state: State; details: string }>[] {
  const known = new Map(before.map((tool) => [tool.name, tool]));
  const there = now.map((tool) => {
    const old = known.get(tool.name);
    if (old === undefined) return { tool, state: "new" as const, details: toolText(tool) };
    if (old.hash === toolHash(tool)) return { tool, state: "same" as const, details: "" };
    return { tool, state: "changed" as const, details: toolChanges(old, tool) };
  });
  const gone = before.filter(({ name }) => !now.some((tool) => tool.name === name));
  return [...there, ...gone.map((tool) => ({ tool, state: "gone" as const, details: "" }))];
}
