import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { stableText } from "../../core/text/stable-text.ts";
import { type McpServer, mcpToolName } from "../../core/vocabulary/mcp-server.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import type { OfferedTool } from "./client.ts";

/** A pinned tool: the trusted version, which is the only version shown to a model. */
export type PinnedTool = OfferedTool & Readonly<{ hash: string }>;

/**
 * The pinned tools of MCP servers. They are stored in the state folder at first use; later changes by a server take
 * effect only after the user trusts them.
 */
export type Pins = Readonly<{
  /** The pinned tools of a server; absent when the server was never seen. */
  read(server: string, definition: McpServer): Promise<readonly PinnedTool[] | undefined>;
  write(server: string, definition: McpServer, tools: readonly OfferedTool[]): Promise<void>;
}>;

const FOLDER = "mcp-tools";

/** Opens the pins below a home folder. Without a home folder, the pins are kept in memory. */
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

/** Reads a pin file. With an unreadable file no tool is trusted; a missing file means that the server is new. */
async function pinsIn(file: string): Promise<readonly PinnedTool[] | undefined> {
  try {
    const data: unknown = parseJson(await readRegularText(file));
    return isRecord(data) && Array.isArray(data["tools"]) ? data["tools"].filter(isPinned) : [];
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    return [];
  }
}

/** A hash of a tool's definition, independent of the order of keys. */
export function toolHash({ name, description, inputSchema, outputSchema, annotations }: OfferedTool): string {
  return hashText(stableText({ name, description, inputSchema, outputSchema, annotations }));
}

/** The name of a tool as the model sees it. */
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

/**
 * The key under which a server's tools are pinned. A different program or URL is a different server; variables and
 * headers may change.
 */
const keyOf = (server: string, { command, args, url }: McpServer): string =>
  `${server}-${hashText(stableText({ command, args, url })).slice(0, 16)}`;

/** True for an unmodified pin. A pin that was edited by hand is not trusted. */
function isPinned(value: unknown): value is PinnedTool {
  return (
    isRecord(value) &&
    typeof value["name"] === "string" &&
    isRecord(value["inputSchema"]) &&
    value["hash"] === toolHash(value as unknown as OfferedTool)
  );
}
