import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { globMatcher } from "../../core/rules/glob.ts";
import { defineTool, type Tool, type ToolContext } from "../../core/task/tool.ts";
import { cutHead, MAX_OUTPUT_BYTES } from "../../core/text/cut.ts";
import { openInside, quoted, type Root } from "../../runtime/files/open-contained.ts";
import { type ReadableRoot, readableRoot, shownPath } from "../workspace/handed-root.ts";
import { linesOf } from "../workspace/lines.ts";
import { withNearNames } from "../workspace/near-names.ts";
import { pathAliases } from "../workspace/path-aliases.ts";
import { folderAt } from "../workspace/walk.ts";
import type { Hit, Search } from "./query.ts";
import { search } from "./search.ts";

const input = z.strictObject({
  pattern: z.string().min(1).max(4_000).describe("matched line by line"),
  path: z.string().min(1).optional().describe("folder or file to search"),
  glob: z.string().min(1).max(1_000).optional().describe("only these files, such as *.ts or src/**; !*.md excludes"),
  ignoreCase: z.boolean().optional(),
  context: z.int().min(0).max(10).optional().describe("lines to show before and after each match"),
  maxResults: z.int().min(1).max(1_000).optional().describe("matching lines to show; default 100"),
  maxPerFile: z.int().min(1).max(1_000).optional().describe("matching lines per file"),
  filesOnly: z.boolean().optional().describe("list `path: number of matching lines`"),
});
type Input = z.infer<typeof input>;

/** Searches the text of files with the search engine `find`. */
export const grepWith = (find: Search): Tool =>
  defineTool({
    name: "grep_files",
    description:
      "Searches text files for a regular expression. Shows `path:line: text` for each match, in path order, and " +
      "`path-line- text` for context. Files that git ignores and binary files are left out.",
    input,
    aliases: {
      ...pathAliases,
      query: "pattern",
      regex: "pattern",
      include: "glob",
      include_pattern: "glob",
      "-i": "ignoreCase",
      case_sensitive: (given) => ({ ignoreCase: given === false }),
      "-C": "context",
      "-A": "context",
      "-B": "context",
      head_limit: "maxResults",
      limit: "maxResults",
      total_max_matches: "maxResults",
      max_matches_per_file: "maxPerFile",
      names_only: "filesOnly",
      output_mode: (given) => ({ filesOnly: given !== "content" }),
    },
    effect: "read",
    does: "read",
    subjects: ({ path = "." }) => [{ kind: "path", path, change: false }],
    timeoutMs: 30_000,
    async run(wanted, context) {
      const found = await hitsFor(find, wanted, context);
      return wanted.filesOnly ? counted(found) : shown(found, { wanted, signal: context.signal });
    },
  });

export const grepFiles = grepWith(search);

/**
 * The time after which a search returns the matches found so far. On a busy machine, starting the program alone can
 * take seconds.
 */
const SEARCH_MS = 10_000;
const LINE_CHARS = 400;
const MOST_COUNTED = 1_000;
const NARROWER = "use a path, a glob or a narrower pattern";

type Found = Readonly<{
  root: ReadableRoot;
  hits: readonly Hit[];
  /** A note after the matches: that some are missing, or that there are none; empty otherwise. */
  notice: string;
}>;

async function hitsFor(find: Search, wanted: Input, context: ToolContext): Promise<Found> {
  const { env, signal } = context;
  const {
    pattern,
    path = ".",
    ignoreCase = false,
    filesOnly = false,
    maxResults = 100,
    maxPerFile = filesOnly ? MOST_COUNTED : maxResults,
  } = wanted;
  if (/[\n\0]/.test(pattern))
    throw new Error(
      "the pattern contains a line break or NUL: every match lies within one line, so search for one line of the text",
    );
  const passes = filterOf(wanted.glob);
  const root = await readableRoot(context, path);
  const opened = await openInside(root, path).catch(withNearNames(root, path));
  await opened.handle.close();
  const isFile = opened.kind === "file";
  const start = isFile ? { path: opened.path, ignore: undefined } : await folderAt(root, opened.path);
  const deadline = AbortSignal.timeout(SEARCH_MS);
  const query = { root, start, isFile, pattern, ignoreCase, perFile: maxPerFile, env };
  const kind = filesOnly ? "files" : "matches";
  const isShut = closedFiles(root);
  const hits: Hit[] = [];
  let results = 0;
  try {
    for await (const hit of find(query, AbortSignal.any([signal, deadline]))) {
      if (!passes(hit.path) || (await isShut(hit.path))) continue;
      if (!filesOnly || hits.at(-1)?.path !== hit.path) results++;
      if (results > maxResults) return { root, hits, notice: `[only the first ${maxResults} ${kind}: ${NARROWER}]` };
      hits.push(hit);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!deadline.aborted) throw error;
    return {
      root,
      hits,
      notice: `[stopped after ${SEARCH_MS / 1_000} s, there may be more matches: use a path or a glob]`,
    };
  }
  return { root, hits, notice: hits.length > 0 ? "" : `[no match for ${quoted(pattern)}]` };
}

/**
 * True for a found file that is forbidden. Forbidden files are left out, because even their number of matches would
 * reveal their content.
 */
function closedFiles({ real, isClosed, isClosedFile }: Root): (path: string) => Promise<boolean> {
  let last: Readonly<{ path: string; shut: boolean }> | undefined;
  return async (path) => {
    if (last?.path === path) return last.shut;
    const stats = isClosedFile && (await lstat(join(real, path)).catch(() => undefined));
    const shut = isClosed?.(path) === true || (stats !== undefined && stats.nlink > 1 && (await isClosedFile!(stats)));
    last = { path, shut };
    return shut;
  };
}

function filterOf(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  if (!glob.startsWith("!")) return globMatcher(glob);
  const matches = globMatcher(glob.slice(1));
  return (path) => !matches(path);
}

/** The files with their numbers of matching lines; the lines themselves are not read. */
function counted({ root, hits, notice }: Found): string {
  const rows = [...byFile(hits)].map(([path, lines]) => `${shownPath(root, path)}: ${lines.size}`);
  return [...rows, ...(notice === "" ? [] : [notice])].join("\n");
}

type Showing = Readonly<{ wanted: Input; signal: AbortSignal }>;

async function shown({ root, hits, notice }: Found, { wanted: { context = 0 }, signal }: Showing): Promise<string> {
  const rows: string[] = [];
  let left = MAX_OUTPUT_BYTES;
  for (const [path, lines] of byFile(hits)) {
    for (const row of await rowsOf(root, { path, lines, context, signal })) {
      left -= Buffer.byteLength(row) + 1;
      if (left < 0) return [...rows, `[cut at 50 KB: ${NARROWER}]`].join("\n");
      rows.push(row);
    }
  }
  if (notice !== "") rows.push(notice);
  return rows.join("\n");
}

function byFile(hits: readonly Hit[]): Map<string, Set<number>> {
  const files = new Map<string, Set<number>>();
  for (const { path, line } of hits) {
    const lines = files.get(path);
    if (lines === undefined) files.set(path, new Set([line]));
    else lines.add(line);
  }
  return files;
}

type Wanted = Readonly<{ path: string; lines: ReadonlySet<number>; context: number; signal: AbortSignal }>;

/** The matching lines. They are read from the opened and checked file, not from the search output. */
async function rowsOf(root: ReadableRoot, { path, lines, context, signal }: Wanted): Promise<string[]> {
  const opened = await openInside(root, path).catch(() => undefined);
  if (opened?.kind !== "file") {
    await opened?.handle.close();
    return [];
  }
  const around = new Set(
    [...lines].flatMap((line) => Array.from({ length: 2 * context + 1 }, (_, n) => line - context + n)),
  );
  const last = Math.max(...around);
  const name = shownPath(root, path);
  const rows: string[] = [];
  let before = 0;
  try {
    for await (const batch of linesOf(opened.handle, signal, Math.min(...around))) {
      for (const { number, text } of batch.lines) {
        if (!around.has(number)) continue;
        if (context > 0 && before > 0 && number > before + 1) rows.push("--");
        const { text: head, cut } = cutHead(text, LINE_CHARS);
        const mark = lines.has(number) ? ":" : "-";
        rows.push(`${name}${mark}${number}${mark} ${head}${cut ? "..." : ""}`);
        before = number;
      }
      if (batch.last >= last) break;
    }
    return rows;
  } finally {
    await opened.handle.close();
  }
}
