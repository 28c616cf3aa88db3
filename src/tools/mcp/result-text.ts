import { isRecord } from "../../core/text/json.ts";
import type { McpResult } from "./client.ts";

/** The result of a server as text. Other content is only named; nothing is downloaded. */
export function resultText({ content, structuredContent }: McpResult): string {
  const parts = content.map(blockText).filter((part) => part !== "");
  if (parts.length > 0) return parts.join("\n");
  return structuredContent === undefined ? "" : JSON.stringify(structuredContent);
}

function blockText(block: McpResult["content"][number]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}: ${block.mimeType}, about ${Math.floor((block.data.length * 3) / 4)} bytes]`;
    case "resource_link":
      return `[resource: ${block.uri}]`;
    case "resource":
      return isRecord(block.resource) && "text" in block.resource
        ? block.resource.text
        : `[resource: ${block.resource.uri}]`;
    default:
      return `[${String((block as { type: unknown }).type)}]`;
  }
}
