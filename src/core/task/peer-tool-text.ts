import { showHidden } from "../agent/hidden-characters.ts";
import { unifiedDiff } from "../text/diff.ts";
import { isRecord } from "../text/json.ts";

/** The parts of a tool that come from its MCP server and that a person agrees to. */
type PeerTool = Readonly<{
  description?: string | undefined;
  inputSchema: object;
  outputSchema?: object | undefined;
  annotations?: object | undefined;
}>;

/** The maximum number of characters of a tool's schema, because models read it with every request. */
const MOST_SCHEMA = 100_000;

export const hasLongSchema = ({ inputSchema }: PeerTool): boolean => JSON.stringify(inputSchema).length > MOST_SCHEMA;

/** The message that a tool of an MCP server is not offered, because its schema is too long. */
export const longSchemaText = (server: string, tool: string): string =>
  `The tool "${showHidden(tool)}" of the MCP server "${server}" is left out: its schema has more than ${MOST_SCHEMA} characters.`;

/** Everything about a tool that a person agrees to, with hidden characters written out. */
export function toolText({ description = "", inputSchema, outputSchema, annotations }: PeerTool): string {
  const parts = { input: inputSchema, output: outputSchema, hints: annotations };
  return [
    showHidden(description),
    ...Object.entries(parts).flatMap(([name, part]) =>
      part === undefined ? [] : `${name}: ${showHidden(JSON.stringify(part, undefined, 2))}`,
    ),
  ].join("\n");
}

/** All differences between two versions of a tool, as lines that begin with `-` or `+`. */
export const toolChanges = (before: PeerTool, now: PeerTool): string =>
  unifiedDiff(toolText(before), toolText(now), "tool").split("\n").slice(2).join("\n");

/** The schema of a tool as models read it: hidden characters in its explanations are written out. */
export function visibleSchema<S extends object>(schema: S): S {
  return visible(schema) as S;
}

const EXPLAINS: ReadonlySet<string> = new Set(["description", "title", "$comment"]);

function visible(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(visible);
  if (!isRecord(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      EXPLAINS.has(key) && typeof value === "string" ? showHidden(value) : visible(value),
    ]),
  );
}
