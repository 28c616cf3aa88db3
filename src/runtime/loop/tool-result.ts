import { type ImageContent } from "../../core/model/images.ts";
import { cutOutsideKey } from "../../core/secrets/private-key.ts";
import { REDACTED } from "../../core/secrets/redact.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { ToolResult } from "../../core/task/tool.ts";
import { cutTail, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../../core/text/cut.ts";
import { isDeeplyNested, isRecord, TOO_DEEP_JSON } from "../../core/text/json.ts";
import { attachedImage, MAX_IMAGES } from "../../core/vocabulary/image.ts";

/**
 * The part of a result that the model reads. For a long result, it is the last part, and the path of a file with the
 * whole result. `tell` is called with the path of that file.
 */
export async function fittingText(
  tool: string,
  { text: whole, file: kept }: Readonly<{ text: string; file?: string }>,
  { keepLong, redact = (text) => text, cut: most = {} }: Assignment,
  tell: (file: string) => void,
): Promise<string> {
  // Only the shown part and some text before it are searched for secrets, so that long results stay cheap.
  const { bytes = MAX_OUTPUT_BYTES, lines = MAX_OUTPUT_LINES } = most;
  const searched = LOOKED_AT * Math.max(1, bytes / MAX_OUTPUT_BYTES);
  const looked = redact(cutOutsideKey(whole, whole.length - searched, REDACTED));
  const { text: end, cut } = cutTail(looked, { bytes, lines });
  if (!cut && whole.length <= searched) return end;
  const text = cutOutsideKey(looked, looked.length - end.length, REDACTED);
  const file = kept ?? (await keepLong?.(tool, whole));
  if (file !== undefined) tell(file);
  return `[the beginning was cut${file === undefined ? "" : `; the full output is in ${file}`}]\n${text}`;
}

/** Length of the tail that is searched for secrets. */
const LOOKED_AT = 4 * MAX_OUTPUT_BYTES;

/** Maximum size of the structured result in the journal. */
const MOST_DETAILS = 200_000;

/** The structured result of a tool call for the journal, or nothing if it is too long. */
export function recordable(value: unknown): Readonly<{ details?: unknown }> {
  try {
    if (isDeeplyNested(value)) return {};
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined || text.length > MOST_DETAILS ? {} : { details: JSON.parse(text) as unknown };
  } catch {
    return {}; // a cycle, or a value that JSON cannot express
  }
}

/** The images of a result whose format every provider accepts. */
export function imagesIn(images: readonly ImageContent[] = []): Readonly<{ images?: readonly ImageContent[] }> {
  const fit = images.filter((image) => attachedImage.safeParse(image).success).slice(0, MAX_IMAGES);
  return fit.length === 0 ? {} : { images: fit };
}

/** A tool result in the expected form: tools of the library user may return any value. */
export function toolResult(result: unknown): Exclude<ToolResult, string> {
  if (typeof result === "string") return { text: result };
  if (isRecord(result) && typeof result["text"] === "string") return result as Exclude<ToolResult, string>;
  if (isDeeplyNested(result)) throw new Error(`its result is ${TOO_DEEP_JSON}`);
  return { text: result === undefined ? "" : (JSON.stringify(result) ?? typeof result) };
}
