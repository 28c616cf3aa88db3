import type { FilePlace, ParsedFile, ReadAgent } from "../../core/agent/dialect.ts";
import type { Problem } from "../../core/vocabulary/file-problem.ts";
import type { Data } from "../yaml/frontmatter.ts";
import { type Draft, emptyDraft, type Fields, readFields } from "./draft.ts";
import { type DialectDefaults, finish } from "./finish.ts";

/** The default values for agents that are read from pure data (such as JSON), used when a key is absent. */
export type RecordOptions = Partial<Omit<DialectDefaults, "place" | "raw" | "recovered">> &
  Readonly<{ place: FilePlace; settle?: (draft: Draft) => void }>;

/** Reads one agent from its keys, for formats whose files are data instead of prose. */
export function readRecord(fields: Fields, data: Data, { settle, ...options }: RecordOptions): ParsedFile {
  const draft = emptyDraft();
  readFields(fields, data, draft);
  settle?.(draft);
  return finish(draft, { body: "", ...options, raw: data });
}

/** Combines the results of reading several agents. */
export function joinReadings(readings: readonly ParsedFile[]): ParsedFile {
  const agents: ReadAgent[] = [];
  const problems: Problem[] = [];
  for (const reading of readings) {
    agents.push(...reading.agents);
    problems.push(...reading.problems);
  }
  return { agents, problems };
}

export const failedReading = (...problems: readonly Problem[]): ParsedFile => ({ agents: [], problems });
