import { z } from "zod";
import { messageOf } from "../../core/schema/error.ts";
import { defineTool, type ToolContext } from "../../core/task/tool.ts";
import { unifiedDiff } from "../../core/text/diff.ts";
import { openInside, quoted } from "../../runtime/files/open-contained.ts";
import { lookOf, replace } from "../../runtime/files/write-contained.ts";
import { isBinary } from "../workspace/lines.ts";
import { withNearNames } from "../workspace/near-names.ts";
import { pathAliases } from "../workspace/path-aliases.ts";
import { recordWrite } from "../workspace/record-change.ts";
import { changedSince, hasForeignChange, remember, rootOfCall, writablePath } from "../workspace/writable-path.ts";
import { missingText, placesOf, type TextPosition } from "./near-text.ts";

const MOST_BYTES = 10_000_000;

const input = z.strictObject({
  path: z.string().min(1),
  oldText: z.string().min(1).describe("exactly as it is in the file, without line numbers"),
  newText: z.string(),
  replaceAll: z.boolean().optional(),
});

/** Replaces a passage of a text file. */
export const editFile = defineTool({
  name: "edit_file",
  description:
    "Replaces a piece of text in a file. It must occur exactly once, unless replaceAll is set. Shows a diff.",
  input,
  aliases: {
    ...pathAliases,
    old_string: "oldText",
    old_str: "oldText",
    new_string: "newText",
    new_str: "newText",
    allow_multiple: "replaceAll",
  },
  effect: "write",
  does: "write",
  subjects: ({ path }) => [{ kind: "path", path, change: true }],
  timeoutMs: 30_000,
  async diff(wanted, context) {
    const { before } = await textOf(wanted.path, context);
    return unifiedDiff(before, edited(before, wanted), wanted.path);
  },
  async run(wanted, context) {
    return (await attempt(wanted, context)) ?? (await attempt(wanted, context)) ?? failed(wanted);
  },
});

/** Makes the change in the text as it is now; `undefined`: something else changed the file at the same moment. */
async function attempt(wanted: z.infer<typeof input>, context: ToolContext): Promise<string | undefined> {
  const { path } = wanted;
  const { before, stats } = await textOf(path, context);
  const spot = await writablePath(context, path);
  try {
    const isForeign = hasForeignChange(context, spot, stats);
    const after = isForeign ? editedAnew(before, wanted) : edited(before, wanted);
    await recordWrite(context, spot, after);
    if (!(await replace(spot, after, lookOf(stats)))) return undefined;
    if (!isForeign) await remember(context, spot);
    return `Changed ${quoted(spot.path)}.${isForeign ? FOREIGN : ""}\n${unifiedDiff(before, after, spot.path)}`;
  } finally {
    await spot.close();
  }
}

const FOREIGN =
  " Another process had changed the file since you read it; your change was made in its new text. Read it again before you rely on the rest.";

function failed({ path }: z.infer<typeof input>): never {
  throw changedSince([path], "just now");
}

/** The change in a text that the task does not know. */
function editedAnew(text: string, wanted: z.infer<typeof input>): string {
  try {
    return edited(text, wanted);
  } catch (error) {
    const why = changedSince([wanted.path], "since you read it").message;
    throw new Error(`${why}. In its new text, ${messageOf(error)}`, { cause: error });
  }
}

/** The text of a file as it is now, and the state of the file at that moment. */
async function textOf(path: string, context: Pick<ToolContext, "cwd" | "access">) {
  const root = await rootOfCall(context, path);
  const { handle, kind, stats } = await openInside(root, path).catch(withNearNames(root, path));
  try {
    if (kind === "directory") throw new Error(`${quoted(path)} is a folder`);
    if (stats.size > MOST_BYTES)
      throw new Error(`${quoted(path)} has ${stats.size} bytes: files larger than ${MOST_BYTES} are not edited`);
    if (await isBinary(handle)) throw new Error(`${quoted(path)} is a binary file: only text files can be edited`);
    return { before: await handle.readFile("utf8"), stats };
  } finally {
    await handle.close();
  }
}

function edited(text: string, { path, oldText, newText, replaceAll = false }: z.infer<typeof input>): string {
  if (oldText === newText) throw new Error("oldText and newText are the same: nothing would change");
  const exact = placesOf(text, oldText);
  // If the file has CRLF line endings, the passage is matched with them, and they are kept.
  const carriage = exact.length === 0 && text.includes("\r\n") && !oldText.includes("\r");
  const old = carriage ? oldText.replaceAll("\n", "\r\n") : oldText;
  const places = carriage ? placesOf(text, old) : exact;
  if (places.length === 0) throw new Error(missingText(text, oldText, quoted(path)));
  if (places.length > 1 && !replaceAll) throw new Error(ambiguous(path, places));
  return text.replaceAll(old, () => (carriage ? newText.replaceAll(/\r?\n/g, "\r\n") : newText));
}

function ambiguous(path: string, places: readonly TextPosition[]): string {
  const lines = places.slice(0, 10).map(({ line }) => line);
  const more = places.length > lines.length ? " and more" : "";
  return `oldText is in ${quoted(path)} ${places.length} times, at lines ${lines.join(", ")}${more}: give more of the text around the one you mean, or set replaceAll`;
}
