import { fence } from "../core/text/fence.ts";
import type { ContentBlock } from "./sdk.ts";

/** Converts a prompt from an editor to the text of a task: links are named, and attached text is quoted. */
export function promptText(blocks: readonly ContentBlock[]): string {
  return blocks.map(textOf).filter(Boolean).join("\n");
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return pathOf(block.uri);
    case "resource":
      return "text" in block.resource ? `${pathOf(block.resource.uri)}:\n${fence(block.resource.text)}` : "";
    default:
      return ""; // images and audio are not announced, so editors do not send them
  }
}

/** Converts a file URI to a path, because tools take paths. */
function pathOf(uri: string): string {
  if (!uri.startsWith("file://")) return uri;
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
