import type { Agent, AgentSource } from "../../core/agent/agent.ts";
import type { Look } from "../../core/view/look.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { ALL_TOOLS } from "../../core/vocabulary/tool-names.ts";
import type { Discovery } from "../../runtime/discovery/discover.ts";
import { type AgentListing, listedAgents } from "../../runtime/discovery/listed-agents.ts";
import type { Flags } from "../base/flags.ts";
import { searchRows } from "../base/search.ts";
import { table } from "../base/table.ts";
import { stdoutLook } from "../base/terminal.ts";
import { crewFor } from "../launch/start.ts";

/**
 * `subcrew agents`. `subcrew agents list WORDS` lists agents whose name, description or origin contains these words.
 */
export async function listAgents(flags: Flags, search: readonly string[] = []): Promise<number> {
  const crew = await crewFor(flags);
  const found = await crew.agents();
  const wanted = listedAgents(found).filter(({ state }) => flags.all || state === "ready" || state === "untrusted");
  const all = crew.masked(wanted);
  const rows = searchRows(all, search, ({ name, description, source, family, plugin, file }) => [
    name,
    description,
    source,
    family,
    plugin,
    file,
  ]);
  if (rows.length === 0 && !flags.json) process.stderr.write("No agent matches.\n");
  if (flags.json) process.stdout.write(`${jsonText(rows, 2)}\n`);
  else print(rows, found, flags);
  return 0;
}

function print(rows: readonly AgentListing[], found: Discovery, flags: Flags): void {
  const look = stdoutLook(flags);
  const ready = rows.filter(({ state }) => state === "ready");
  const narrow = process.stdout.isTTY && process.stdout.columns < 100;
  const most = narrow ? { name: 22, source: 13, model: 8 } : { name: 32, source: 20, model: 24 };
  const origins = [...new Set(ready.map(({ source }) => source))];
  for (const [at, origin] of origins.entries()) {
    const some = ready.filter(({ source }) => source === origin);
    if (origins.length > 1) process.stdout.write(`${at > 0 ? "\n" : ""}${look.colors.bold(titled(origin))}\n`);
    process.stdout.write(table(some.map(cells), look, most));
  }
  for (const state of ["unlisted", "shadowed", "untrusted", "disabled", "skipped"] as const) section(rows, state, look);
  if (!flags.all) hint(found);
}

const titled = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

const cells = ({
  name,
  source,
  family,
  plugin,
  model,
  tools,
  remote,
  description,
}: AgentListing): Record<string, string> => ({
  name,
  source: plugin ?? (source === "bundled" ? source : [source, family].filter(Boolean).join(" ")),
  model: remote === undefined ? [model ?? "-"].flat().join(", ") : "remote",
  tools: remote === undefined ? toolCount(tools ?? undefined) : "its own",
  description,
});

/** The number of tools that the agent's tool list names, or the word `all` or `none`. */
function toolCount(tools: Agent["tools"]): string {
  if (tools === undefined || tools.includes(ALL_TOOLS)) return "all";
  return tools.length === 0 ? "none" : String(tools.length);
}

function section(rows: readonly AgentListing[], state: AgentListing["state"], look: Look): void {
  const some = rows.filter((row) => row.state === state);
  if (some.length === 0) return;
  const lines = some.map(({ name, file, source, family, reason = "" }) => ({
    name: name === "" ? "-" : name,
    file: file ?? [source, family].filter(Boolean).join(" "),
    reason,
  }));
  const title = titled(state);
  process.stdout.write(`\n${look.colors.bold(title)}\n${table(lines, look, { name: 24, file: 40 })}`);
}

/** Reports agents that are not trusted yet and files that cannot be read, with the command that shows more. */
function hint({ untrusted, skipped }: Discovery): void {
  const broken = skipped.filter(({ problems }) => problems.some(({ severity }) => severity === "error")).length;
  if (untrusted.length > 0)
    process.stderr.write(
      `\n${count(untrusted.length, "agent")} of this project cannot run yet. See \`subcrew trust\`.\n`,
    );
  if (broken > 0)
    process.stderr.write(`\n${count(broken, "file")} cannot be read as an agent. See \`subcrew agents lint\`.\n`);
}

const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? "" : "s"}`;

/** A short text that says where an agent comes from. */
export function sourceText(source: AgentSource | undefined): string {
  if (source?.plugin !== undefined) return `plugin ${source.plugin}`;
  return [source?.kind ?? "inline", source?.family].filter((word) => word !== undefined).join(", ");
}
