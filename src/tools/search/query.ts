import type { Root } from "../../runtime/files/open-contained.ts";
import type { Folder } from "../workspace/walk.ts";

/** A search query and its start folder. */
export type Query = Readonly<{
  root: Root;
  /** The folder or file where the search begins. */
  start: Folder;
  isFile: boolean;
  pattern: string;
  ignoreCase: boolean;
  /** The maximum number of matching lines per file. */
  perFile: number;
  env: Readonly<Record<string, string | undefined>>;
}>;

/** Position of a matching line. The caller opens and checks the file itself. */
export type Hit = Readonly<{ path: string; line: number }>;

/** Finds matching lines, file by file in path order; throws {@link unusable} when it cannot handle the query. */
export type Search = (query: Query, signal: AbortSignal) => AsyncGenerator<Hit>;

/** The error of a search engine that cannot handle a query; another search engine may be able to. */
export function unusable(reason: string): Error {
  return Object.assign(new Error(reason), { code: "UNUSABLE" });
}

export function isUnusable(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "UNUSABLE";
}
