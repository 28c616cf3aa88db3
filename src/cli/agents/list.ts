import type { Agent, AgentSource } from "../../core/agent/agent.ts";
import type { Look } from "../../core/view/look.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { ALL_TOOLS } from "../../core/vocabulary/tool-names.ts";
import { distrustText } from "../../runtime/discovery/distrust.ts";
import type { Discovery, FoundAgent, SkippedFile } from "../../runtime/discovery/discover.ts";
import { qualifiedNames } from "../../runtime/discovery/discover.ts";
import type { Flags } from "../base/flags.ts";
import { searchRows } from "../base/search.ts";
import { table } from "../base/table.ts";
import { stdoutLook } from "../base/terminal.ts";
import { crewFor } from "../launch/start.ts";

/** `subcrew agents`, and `subcrew agents list WORDS` for those whose name, description or origin has these words. */
export async function listAgents(flags: Flags, search: readonly string[] = []): Promise<number> {
  const found = await (await crewFor(flags)).agents();
  const rest = others(found).filter(({ state }) => flags.all || state === "untrusted");
  const all = [...found.agents.map((one) => rowOf(one, "ready")), ...rest];
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

type State = "ready" | "shadowed" | "untrusted" | "disabled" | "skipped";

/** An agent in the list, for programs. */
type Row = Readonly<{
  name: string;
  state: State;
  /** Why it cannot run. */
  reason?: string;
  description: string;
  model: string | readonly string[] | null;
  tools: readonly string[] | null;
  /** Where it is, when that is elsewhere. */
  remote?: string;
  source: string;
  family?: string;
  dialect?: string;
  plugin?: string;
  file?: string;
  also: readonly string[];
}>;

function rowOf(found: FoundAgent, state: State, reason?: string): Row {
  const { agent, file } = found;
  const { kind = "inline", family, dialect, plugin } = agent.source ?? {};
  return {
    name: found.name,
    state,
    ...(reason === undefined ? {} : { reason }),
    description: agent.description,
    model: agent.model ?? null,
    tools: agent.tools ?? null,
    ...(agent.remote === undefined ? {} : { remote: agent.remote.cardUrl ?? "a card in its file" }),
    source: kind,
    ...(family === undefined ? {} : { family }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(plugin === undefined ? {} : { plugin }),
    ...(file === undefined ? {} : { file }),
    also: qualifiedNames(found),
  };
}

/** What was found and does not count, with the reason. */
function others({ shadowed, untrusted, disabled, skipped }: Discovery): Row[] {
  return [
    ...shadowed.map(({ found, by }) => rowOf(found, "shadowed", `shadowed by ${placeOf(by)}`)),
    ...untrusted.map((one) => rowOf(one, "untrusted", distrustText[one.distrust ?? "project"])),
    ...disabled.map((one) =>
      rowOf(one, "disabled", one.read.disabled ? "disabled in its file" : "disabled in the settings"),
    ),
    ...skipped.map(skippedRow),
  ];
}

const placeOf = ({ file, agent }: FoundAgent): string => file ?? `the ${agent.source?.kind ?? "inline"} agent`;

function skippedRow({ name, file, problems }: SkippedFile): Row {
  const wrong = problems.find(({ severity }) => severity === "error") ?? problems[0];
  return {
    name: name ?? "",
    state: "skipped",
    reason: wrong?.message ?? "it contains no agent",
    description: "",
    model: null,
    tools: null,
    source: "file",
    ...(file === undefined ? {} : { file }),
    also: [],
  };
}

function print(rows: readonly Row[], found: Discovery, flags: Flags): void {
  const look = stdoutLook(flags);
  const ready = rows.filter(({ state }) => state === "ready");
  const narrow = process.stdout.isTTY && process.stdout.columns < 100;
  const most = narrow ? { name: 22, source: 13, model: 8 } : { name: 32, source: 20, model: 24 };
  const shown = flags.all || flags.preset !== undefined ? ready : withoutTwins(ready);
  const origins = [...new Set(shown.map(({ source }) => source))];
  for (const [at, origin] of origins.entries()) {
    const some = shown.filter(({ source }) => source === origin);
    if (origins.length > 1) process.stdout.write(`${at > 0 ? "\n" : ""}${look.colors.bold(titled(origin))}\n`);
    process.stdout.write(table(some.map(cells), look, most));
  }
  for (const state of ["shadowed", "untrusted", "disabled", "skipped"] as const) section(rows, state, look);
  if (!flags.all) hint(found);
}

const titled = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

/** Bundled agents whose names differ from another one only by case belong to a preset; they can always be named. */
function withoutTwins(rows: readonly Row[]): readonly Row[] {
  const bundled = new Set(rows.filter(({ source }) => source === "bundled").map(({ name }) => name));
  return rows.filter(({ name, source }) => {
    const lower = name.toLowerCase();
    return source !== "bundled" || name === lower || !bundled.has(lower);
  });
}

const cells = ({ name, source, family, plugin, model, tools, remote, description }: Row): Record<string, string> => ({
  name,
  source: plugin ?? (source === "bundled" ? source : [source, family].filter(Boolean).join(" ")),
  model: remote === undefined ? [model ?? "-"].flat().join(", ") : "remote",
  tools: remote === undefined ? toolCount(tools ?? undefined) : "its own",
  description,
});

/** How many tools an agent has, as far as its list says. */
function toolCount(tools: Agent["tools"]): string {
  if (tools === undefined || tools.includes(ALL_TOOLS)) return "all";
  return tools.length === 0 ? "none" : String(tools.length);
}

function section(rows: readonly Row[], state: State, look: Look): void {
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

/** What a person would miss: it is said where there is one. */
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

/** Where an agent comes from, in a few words. */
export function sourceText(source: AgentSource | undefined): string {
  if (source?.plugin !== undefined) return `plugin ${source.plugin}`;
  return [source?.kind ?? "inline", source?.family].filter((word) => word !== undefined).join(", ");
}
