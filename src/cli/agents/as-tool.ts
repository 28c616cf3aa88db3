import { cardOf } from "../../core/delegation/catalog.ts";
import { delegationToolsOf } from "../../core/delegation/spawn.ts";
import type { Tool } from "../../core/task/tool.ts";
import { inputSchemaOf } from "../../core/task/tool-specs.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { facadeNames } from "../../core/vocabulary/delegation-names.ts";
import type { Crew } from "../../crew.ts";
import { bytesOf, DESCRIPTION_BYTES } from "../../facades/agent-lines.ts";
import type { FoundAgent } from "../../runtime/discovery/discover.ts";
import type { Flags } from "../base/flags.ts";
import { table } from "../base/table.ts";
import { stdoutLook } from "../base/terminal.ts";

/**
 * Prints the description of an agent that models get, and its size in bytes: the description as a tool of its own, and
 * within each delegation tool.
 */
export async function asTool(crew: Crew, { agent, name }: FoundAgent, flags: Flags): Promise<number> {
  const card = crew.masked(cardOf(agent));
  const own = await crew.delegationTools(["agents"], { catalog: { agents: [card], disabled: [] } });
  const all = await Promise.all(
    facadeNames.filter((spelling) => spelling !== "agents").map(async (spelling) => crew.delegationTools([spelling])),
  );
  const spellings = delegationToolsOf(agent);
  const has =
    spellings.length === 0 ? [] : await crew.delegationTools(spellings, { agent: name, spawns: agent.spawns ?? "*" });
  const [tool] = own;
  const offered = all.flatMap((tools) => tools.slice(0, 1)).map((one) => sizeOf(one, name));
  const delegates = has.map((one) => sizeOf(one));
  const described = { name, readOnly: card.readOnly, hidden: card.hidden === true };
  if (flags.json) {
    const itself = tool ? { ...sizeOf(tool), description: tool.description, input: inputSchemaOf(tool) } : null;
    process.stdout.write(`${jsonText({ ...described, budget: DESCRIPTION_BYTES, itself, offered, delegates }, 2)}\n`);
    return 0;
  }
  const look = stdoutLook(flags);
  const part = (title: string, rows: readonly Size[]): string =>
    rows.length === 0 ? "" : `\n${look.colors.bold(title)}\n${table(rows.map(rowOf), look)}`;
  process.stdout.write(
    [
      `${look.colors.bold(name)}  ${card.readOnly ? "read-only" : "may change things"}${card.hidden ? ", not offered" : ""}\n`,
      tool
        ? `${sanitize(tool.description)}\n\n${jsonText(inputSchemaOf(tool), 2)}\n`
        : "The agent cannot be offered as a separate tool: its name or inputs are not valid for a tool.\n",
      part("As a separate tool", tool ? [sizeOf(tool)] : []),
      part(`Delegation tools that offer the agent (a description has at most ${DESCRIPTION_BYTES} bytes)`, offered),
      part("Delegation tools of the agent", delegates),
    ].join(""),
  );
  return 0;
}

type Size = Readonly<{ tool: string; description: number; schema: number; named?: boolean }>;

function sizeOf(tool: Tool, agent?: string): Size {
  const described = tool.description;
  return {
    tool: tool.name,
    description: bytesOf(described),
    schema: bytesOf(JSON.stringify(inputSchemaOf(tool))),
    ...(agent !== undefined && {
      named: new RegExp(`(?<![\\p{L}\\p{N}_-])${agent.replaceAll(".", "\\.")}(?![\\p{L}\\p{N}_-])`, "mu").test(
        described,
      ),
    }),
  };
}

function rowOf({ tool, description, schema, named }: Size): Record<string, string> {
  return {
    tool,
    description: `${description} bytes`,
    schema: `schema ${schema} bytes`,
    named: named === false ? "does not name the agent" : "",
  };
}
