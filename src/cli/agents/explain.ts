import { sep } from "node:path";
import type { Agent } from "../../core/agent/agent.ts";
import { agentRuleText } from "../../core/rules/agent-rule.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { ResourceLimits } from "../../core/vocabulary/limits.ts";
import { describeOrigin } from "../../core/vocabulary/provenance.ts";
import { isOfServer } from "../../core/vocabulary/server-patterns.ts";
import type { ExplainedCall, ExplainedTool } from "../../crew/explain/explain-agent.ts";
import { type ReachedAgent, reachOf } from "../../crew/explain/explain-reach.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { FoundAgent } from "../../runtime/discovery/discover.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { Flags } from "../base/flags.ts";
import { table } from "../base/table.ts";
import { stdoutLook } from "../base/terminal.ts";
import { settingsIn } from "../launch/settings.ts";
import { crewFor } from "../launch/start.ts";
import { findDefinition, stateText } from "../../runtime/discovery/find-definition.ts";
import { sourceText } from "./list.ts";

/**
 * The tools of other agents that the explained agent can start: one row for each agent that adds tools to its own. The
 * agents that add no tools share a row.
 */
function reachRows(reach: readonly ReachedAgent[]): Readonly<Record<string, string>>[] {
  const [adding, others] = [reach.filter(({ adds }) => adds.length > 0), reach.filter(({ adds }) => adds.length === 0)];
  return [
    ...adding.map(({ name, through, adds }) => ({
      agent: terminalLine(name),
      through: terminalLine(through),
      adds: adds.join(", "),
    })),
    ...(others.length > 0
      ? [{ agent: terminalLine(others.map(({ name }) => name).join(", ")), through: "", adds: "no other tools" }]
      : []),
  ];
}

/** The command `subcrew agents explain AGENT`. */
export async function explainAgentCommand([name = ""]: readonly string[], flags: Flags): Promise<number> {
  const crew = await crewFor(flags);
  const discovery = await crew.agents();
  const definition = findDefinition(discovery, name);
  const { found } = definition;
  const explained = crew.masked(await crew.explain(found, callIn(flags)));
  const reach = reachOf(
    explained.agent,
    discovery.agents.map(({ agent }) => agent),
    explained.tools.filter(({ missing }) => !missing).map((tool) => tool.name),
  );
  const same = [
    ...discovery.agents,
    ...discovery.shadowed.map((one) => one.found),
    ...discovery.disabled,
    ...discovery.untrusted,
  ].filter((one) => one.name === found.name && one !== found);
  if (flags.json) {
    const { agent, ...rest } = explained;
    const others = same.map((one) => ({
      source: sourceText(one.agent.source),
      trusted: one.trusted,
      file: one.file ?? null,
    }));
    const { file, real } = found;
    const about = {
      name: found.name,
      state: definition.state,
      source: agent.source,
      ...(file && { file }),
      ...(real && { real }),
    };
    process.stdout.write(`${jsonText(crew.masked({ ...about, ...rest, reach, others }), 2)}\n`);
    return 0;
  }
  const look = stdoutLook(flags);
  const part = (title: string, rows: readonly Readonly<Record<string, string>>[]): string =>
    rows.length === 0 ? "" : `\n${look.colors.bold(title)}\n${table(rows, look, MOST)}`;
  const why = stateText(definition);
  process.stdout.write(
    [
      `${look.colors.bold(found.name)}  ${terminalLine(sourceText(found.agent.source))}\n`,
      ...[found.file, found.real && `links to ${found.real}`, why]
        .filter((line) => line)
        .map((line) => `${terminalLine(line!)}\n`),
      part(
        "Fields",
        explained.fields.filter(({ field }) => field !== "tools").map((row) => fieldRow(row)),
      ),
      part("Tools", toolRows(explained.tools)),
      part("MCP servers", serverRows(explained.tools)),
      part("May start", reachRows(reach)),
      part(
        "Model",
        explained.agent.remote
          ? [{ model: "its own", when: "always", why: "remote agent" }]
          : modelRows(explained.model),
      ),
      part("Project instructions", instructionRows(explained.projectInstructions)),
      part("Limits", explained.limits.map(fieldRow)),
      part("Other definitions of this name", same.map(otherRow)),
      part(
        "Problems",
        explained.problems.map(({ severity, code, message }) => ({ severity, code, message })),
      ),
    ].join(""),
  );
  return 0;
}

const MOST = { field: 22, value: 30, tool: 22, from: Number.POSITIVE_INFINITY, why: Number.POSITIVE_INFINITY };

/** The task settings given by these flags, and the name of the flag for each setting. */
function callIn(flags: Flags): ExplainedCall {
  const { model, thinking, tools, resourceLimits } = settingsIn(flags);
  return {
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(tools === undefined ? {} : { tools }),
    ...(resourceLimits === undefined ? {} : { resourceLimits }),
    flags: { model: "--model", thinking: "--thinking", tools: "--tools", maxTurns: "--max-turns" },
  };
}

/** Shortens a path: relative to the current folder, or to the home folder. */
function near(text: string): string {
  const home = process.env["HOME"];
  const below = text.replaceAll(`${process.cwd()}${sep}`, "");
  return home === undefined || home === "" ? below : below.replaceAll(`${home}${sep}`, `~${sep}`);
}

type Field = Awaited<ReturnType<Crew["explain"]>>["fields"][number];

function fieldRow({ field, value, origin }: Field): Record<string, string> {
  return { field, value: valueText(field, value), from: near(describeOrigin(origin)) };
}

function valueText(field: string, value: unknown): string {
  if (typeof value === "number" && TIMES.has(field)) return formatDuration(value);
  if (field === "instructions" && typeof value === "string") return `${value.length} characters`;
  if (field === "rules") return (value as NonNullable<Agent["rules"]>).flat().map(agentRuleText).join(", ");
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

const TIMES: ReadonlySet<string> = new Set<keyof ResourceLimits>(["maxDurationMs", "maxIdleMs", "graceMs"]);

/** The tools that the agent has, the tools that a rule removed, and all other tools on one line. */
function toolRows(tools: readonly ExplainedTool[]): Record<string, string>[] {
  const row = ({ name, allowed, missing, rule, origin, server }: ExplainedTool): Record<string, string> => ({
    tool: name,
    may: missing ? "missing" : allowed ? "yes" : "no",
    decided: missing
      ? `${rule}, but no ${isOfServer(name) ? "MCP server" : "tool"} of this name exists here`
      : `${rule}${allowed && server ? "; the run checks at its start whether the server has this tool" : ""}`,
    from: near(describeOrigin(origin)),
  });
  const plain = (tool: ExplainedTool): boolean => !tool.allowed && tool.rule === "not in the list of tools";
  const rest = tools.filter(plain).map(({ name }) => name);
  const shown = tools.filter((tool) => !plain(tool)).toSorted((a, b) => Number(b.allowed) - Number(a.allowed));
  if (rest.length === 0) return shown.map(row);
  const others = { tool: "(others)", may: "no", decided: "not in the list of tools", from: rest.join(", ") };
  return [...shown.map(row), others];
}

/** The MCP servers that provide the tools, each listed once. */
function serverRows(tools: readonly ExplainedTool[]): Record<string, string>[] {
  const servers = new Map(tools.flatMap(({ server }) => (server ? [[server.name, server.what] as const] : [])));
  return [...servers].map(([server, what]) => ({ server, what }));
}

function modelRows({
  candidates,
  misses,
  warnings,
}: Awaited<ReturnType<Crew["explain"]>>["model"]): Record<string, string>[] {
  const models = candidates.map(({ name, why, spare }, at) => ({
    model: name,
    when: at === 0 ? "taken" : spare ? "if that does not exist" : "after that",
    why,
  }));
  const missing =
    candidates.length === 0 ? misses.map(({ name, because }) => ({ model: name, when: "missing", why: because })) : [];
  return [...models, ...missing, ...warnings.map((text) => ({ model: "", when: "note", why: text }))];
}

function instructionRows({
  files,
  left,
  why,
}: Awaited<ReturnType<Crew["explain"]>>["projectInstructions"]): Record<string, string>[] {
  if (why !== undefined) return [{ file: "none", told: why }];
  const rows = [
    ...files.map(({ file, chars, cut }) => ({ file, told: `${chars} characters${cut ? ", the rest is cut" : ""}` })),
    ...left.map(({ file, why: because }) => ({ file, told: `left out: ${because}` })),
  ];
  return rows.length > 0
    ? rows.map(({ file, told }) => ({ file: terminalLine(file), told }))
    : [{ file: "none", told: "this project has no instruction files" }];
}

function otherRow(found: FoundAgent): Record<string, string> {
  const state = found.trusted ? "" : "not trusted";
  return { source: sourceText(found.agent.source), state, file: found.file ?? "built in" };
}
