import type { ImageContent } from "../../core/model/images.ts";
import { defined } from "../../core/text/defined.ts";
import { type ImageType, imageTypeOf, MAX_IMAGE_BYTES } from "../../core/vocabulary/image.ts";
import type { McpResult } from "./client.ts";

/**
 * The result of an MCP tool call: its text, which also names non-text content, and its images. Nothing is downloaded.
 */
export type ReadResult = Readonly<{ text: string; images?: readonly ImageContent[] }>;

export function readResult({ content, structuredContent }: McpResult): ReadResult {
  const images: ImageContent[] = [];
  const parts = content.map((block) => blockText(block, images)).filter((part) => part !== "");
  const text =
    parts.length > 0 || structuredContent === undefined ? parts.join("\n") : JSON.stringify(structuredContent);
  return { text, ...defined({ images: images.length > 0 ? images : undefined }) };
}

type Block = McpResult["content"][number];

function blockText(block: Block, images: ImageContent[]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return binaryText(block.type, block, images);
    case "resource_link":
      return `[resource: ${block.uri}${block.description === undefined ? "" : `: ${block.description}`}]`;
    case "resource": {
      const { uri, mimeType } = block.resource;
      if ("text" in block.resource) return block.resource.text;
      return binaryText(`resource ${uri}`, { data: block.resource.blob, ...defined({ mimeType }) }, images);
    }
    default:
      return `[${String((block as { type: unknown }).type)}]`;
  }
}

/**
 * Names non-text content, and adds it to the images if models accept it. The format that the server declares is
 * ignored; the bytes decide.
 */
function binaryText(
  what: string,
  { data, mimeType = "data" }: Readonly<{ data: string; mimeType?: string }>,
  images: ImageContent[],
): string {
  const bytes = Buffer.from(data, "base64");
  const type: ImageType | undefined = bytes.length > MAX_IMAGE_BYTES ? undefined : imageTypeOf(bytes);
  if (type !== undefined) images.push({ name: `image ${images.length + 1}`, type, data: bytes.toString("base64") });
  return `[${what}: ${type ?? mimeType}, about ${bytes.length} bytes]`;
}
