import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { stableText } from "../../core/text/stable-text.ts";
import { type McpServer, mcpToolName } from "../../core/vocabulary/mcp-server.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import type { OfferedTool } from "./client.ts";

/** A tool as it was when somebody agreed to it; only this ever reaches a model. */
export type PinnedTool = OfferedTool & Readonly<{ hash: string }>;

/** What servers offered when they were first seen, in the user's own folder: a later change of it counts only once it is agreed to. */
export type Pins = Readonly<{
  /** Absent: the server was never seen. */
  read(server: string, definition: McpServer): Promise<readonly PinnedTool[] | undefined>;
  write(server: string, definition: McpServer, tools: readonly OfferedTool[]): Promise<void>;
}>;

const FOLDER = "mcp-tools";

/** The pins below a home folder; without one they only last as long as this object. */
export function openPins(home: string | undefined): Pins {
  const own = new Map<string, readonly PinnedTool[]>();
  const fileOf = (key: string): string | undefined =>
    home === undefined ? undefined : join(home, FOLDER, `${key}.json`);
  return {
    read: async (server, definition) => {
      const key = keyOf(server, definition);
      const file = fileOf(key);
      return own.get(key) ?? (file === undefined ? undefined : pinsIn(file));
    },
    write: async (server, definition, tools) => {
      const key = keyOf(server, definition);
      const file = fileOf(key);
      own.set(key, tools.map(pinned));
      if (file === undefined) return;
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeAtomic(file, `${JSON.stringify({ version: 1, server, tools: own.get(key) }, null, 2)}\n`);
    },
  };
}

/** What a file holds. One that cannot be read any more agrees to nothing, which is not the same as never having seen the server. */
async function pinsIn(file: string): Promise<readonly PinnedTool[] | undefined> {
  try {
    const data: unknown = JSON.parse(await readRegularText(file));
    return isRecord(data) && Array.isArray(data["tools"]) ? data["tools"].filter(isPinned) : [];
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    return [];
  }
}

/** What makes a tool what it is; another order of keys does not. */
export function toolHash({ name, description, inputSchema, outputSchema, annotations }: OfferedTool): string {
  return hashText(stableText({ name, description, inputSchema, outputSchema, annotations }));
}

/** What a tool is called in front of a model. */
export const pinnedToolName = (server: string, tool: string): string => mcpToolName(server, tool, hashText);

export const hashText = (text: string): string => createHash("sha256").update(text).digest("hex");

const pinned = ({ name, description, inputSchema, outputSchema, annotations }: OfferedTool): PinnedTool => {
  const tool: OfferedTool = {
    name,
    inputSchema,
    ...defined({ description, outputSchema, annotations }),
  };
  return { ...tool, hash: toolHash(tool) };
};

/** Another program behind the same name is another server. Variables and headers may change, as keys do. */
const keyOf = (server: string, { command, args, url }: McpServer): string =>
  `${server}-${hashText(stableText({ command, args, url })).slice(0, 16)}`;

/** One that somebody changed in the file was not agreed to. */
function isPinned(value: unknown): value is PinnedTool {
  return (
    isRecord(value) &&
    typeof value["name"] === "string" &&
    isRecord(value["inputSchema"]) &&
    value["hash"] === toolHash(value as unknown as OfferedTool)
  );
}
