import { isAbsolute, normalize, sep } from "node:path";
import type { FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { isRecord, scalarText } from "../../core/text/json.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { addProblem, type Draft, type Fields } from "../fields/draft.ts";
import { failedReading, joinReadings, readRecord } from "../fields/records.ts";
import type { Data } from "../yaml/frontmatter.ts";
import { readToml, type TomlResult } from "../yaml/toml.ts";

/** How to read a Codex role, whether it is in its own file or in the settings. */
export type RoleReader = Readonly<{ fields: Fields; settle(draft: Draft): void }>;

/**
 * The roles (agents) in Codex's `config.toml`: its tables `[agents.<role>]`. Other settings of the file are ignored.
 */
export function readCodexSettings(settings: Data, place: FilePlace, reader: RoleReader): ParsedFile {
  const agents = settings["agents"];
  const roles = isRecord(agents) ? Object.entries(agents) : [];
  return joinReadings(
    roles.flatMap(([role, table]) => (isRecord(table) ? [readRole(role, table, { place, reader })] : [])),
  );
}

const KEYS: ReadonlySet<string> = new Set(["description", "config_file", "nickname_candidates"]);

/** Merges the table of a role with the file that the table names; the table takes precedence. */
function readRole(role: string, table: Data, { place, reader }: { place: FilePlace; reader: RoleReader }): ParsedFile {
  const unknown = Object.keys(table).find((key) => !KEYS.has(key));
  if (unknown !== undefined)
    return failedReading(
      problem("unknown-field", `"${unknown}" is not a key of a role.`, { field: role, severity: "error" }),
    );
  const { config_file: path, ...own } = table;
  const named = path === undefined ? { data: {} } : roleFile(path, place);
  if ("problem" in named) return failedReading({ ...named.problem, field: role });
  const settle = (draft: Draft): void => {
    reader.settle(draft);
    if (draft.agent.instructions === undefined)
      addProblem(draft, "missing-prompt", `The role "${role}" has no "developer_instructions".`, { field: role });
  };
  return readRecord(reader.fields, { ...named.data, ...own }, { place, freeName: true, defaultName: role, settle });
}

/** The file that a role names, if it is in the folder of the settings or below that folder. */
function roleFile(path: unknown, { include }: FilePlace): TomlResult {
  const way = typeof path === "string" ? normalize(path) : "..";
  const outside = isAbsolute(way) || way === ".." || way.startsWith(`..${sep}`);
  const source = outside ? undefined : include?.(way);
  if (source !== undefined) return readToml(source);
  const message = `The file "${scalarText(path)}" cannot be read, or is outside of the settings folder.`;
  return { problem: problem("bad-definition", message) };
}
