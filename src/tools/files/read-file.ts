import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../../core/text/cut.ts";
import { type OpenedFile, openInside, quoted } from "../../runtime/files/open-contained.ts";
import { readableRoot } from "../workspace/handed-root.ts";
import { isBinary, linesOf, shown } from "../workspace/lines.ts";
import { withNearNames } from "../workspace/near-names.ts";
import { pathAliases } from "../workspace/path-aliases.ts";
import { lookOf } from "../../runtime/files/write-contained.ts";

const input = z.strictObject({
  path: z.string().min(1),
  offset: z.int().min(1).optional().describe("the first line to show, from 1"),
  limit: z.int().min(1).max(MAX_OUTPUT_LINES).optional().describe("lines to show"),
});

/** Shows a text file with line numbers; a long file is shown in parts. */
export const readFile = defineTool({
  name: "read_file",
  description:
    "Reads a text file. Each line is preceded by its number and a tab. " +
    `One call shows at most ${MAX_OUTPUT_LINES} lines or 50 KB and says how to continue.`,
  input,
  aliases: {
    ...pathAliases,
    offset: (given) => ({ offset: given === 0 ? 1 : given }), // lines count from 0 in some programs
    limit: (given) => ({ limit: typeof given === "number" ? Math.min(given, MAX_OUTPUT_LINES) : given }),
    start_line: "offset",
    end_line: (given, { offset, start_line: first = offset ?? 1 }) => ({ limit: Number(given) - Number(first) + 1 }),
  },
  effect: "read",
  does: "read",
  subjects: ({ path }) => [{ kind: "path", path, change: false }],
  timeoutMs: 30_000,
  async run(wanted, context) {
    const root = await readableRoot(context, wanted.path);
    const opened = await openInside(root, wanted.path).catch(withNearNames(root, wanted.path));
    try {
      if (opened.kind === "directory")
        throw new Error(`${quoted(wanted.path)} is a folder: use list_files to see what is in it`);
      context.access?.seen.set(opened.real, lookOf(opened.stats));
      if (await isBinary(opened.handle)) {
        throw new Error(
          `${quoted(wanted.path)} is a binary file of ${opened.stats.size} bytes: only text files can be read`,
        );
      }
      return await numbered(opened, wanted, context.signal);
    } finally {
      await opened.handle.close();
    }
  },
});

/** Bytes reserved for the final note, so that the whole result stays below the size at which it would be shortened. */
const NOTE_BYTES = 100;

async function numbered(
  { handle }: OpenedFile,
  { path, offset = 1, limit = MAX_OUTPUT_LINES }: z.infer<typeof input>,
  signal: AbortSignal,
): Promise<string> {
  const rows: string[] = [];
  let left = MAX_OUTPUT_BYTES - NOTE_BYTES;
  let all = 0;
  for await (const { lines, last } of linesOf(handle, signal, offset)) {
    all = last;
    for (const line of lines) {
      const row = `${line.number}\t${shown(line)}`;
      left -= Buffer.byteLength(row) + 1;
      if (rows.length === limit || left < 0) {
        const fit = rows.slice(0, MAX_OUTPUT_LINES - 1); // one line is kept free for the note about further lines
        return `${fit.join("\n")}\n[more lines follow: call read_file with offset ${line.number - (rows.length - fit.length)}]`;
      }
      rows.push(row);
    }
  }
  if (rows.length > 0) return rows.join("\n");
  if (all === 0) return "[the file is empty]";
  throw new Error(`${quoted(path)} has only ${all} line${all === 1 ? "" : "s"}: use a smaller offset than ${offset}`);
}
