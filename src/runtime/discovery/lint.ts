import { readRegularTextSync } from "../disk/regular-file.ts";
import { readdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Dialect, Dialects } from "../../core/agent/dialect.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { type Problem, problem } from "../../core/vocabulary/file-problem.ts";
import { dialectPlaceOf } from "./dialect-of-path.ts";
import type { Discovery } from "./discover.ts";
import { type FileReading, readAgentFile } from "./files.ts";

/** The files that were checked and their problems, with line numbers where known. */
export type LintReport = Readonly<{ files: readonly string[]; problems: readonly Problem[] }>;

/** A file to check, and its format. */
export type LintFile = Readonly<{ path: string; relative: string; dialect: Dialect }>;

/** Checks files and folders. The path decides the file format, unless `dialect` is given. */
export function lintPaths(paths: readonly string[], dialects: Dialects, dialect?: string): LintReport {
  const files = paths.flatMap((path) => filesAt(resolve(path), dialects, dialect));
  const problems = files.flatMap((file) => lintFile(file));
  return { files: files.map(({ path }) => path), problems };
}

/** Checks all agent files that were found. */
export function lintDiscovery(discovery: Discovery, dialects: Dialects): LintReport {
  const { agents, shadowed, untrusted, disabled, skipped, problems } = discovery;
  const found = [...agents, ...shadowed.map((one) => one.found), ...untrusted, ...disabled];
  const files = [...found, ...skipped].flatMap(({ file }) => file ?? []);
  const empty = found.flatMap(({ agent, file }) => (file === undefined ? [] : withoutPrompt(agent, file)));
  return { files: [...new Set(files)].sort(), problems: placed([...problems, ...empty], dialects) };
}

/** Lists the problems of one file. */
export function lintFile(file: LintFile): readonly Problem[] {
  const { path, dialect } = file;
  const { agents, problems } = readLintFile(file);
  const empty = agents.flatMap(({ agent }) => withoutPrompt(agent, path));
  return placed([...problems, ...empty], { [dialect.id]: dialect }, dialect.id);
}

/** Reads one file that the user named explicitly. */
export function readLintFile({ path, relative, dialect }: LintFile): FileReading {
  const source = { kind: "inline", file: path, dialect: dialect.id } as const;
  return readAgentFile({ path, relative }, dialect, { within: dirname(path), source });
}

const withoutPrompt = (agent: Parameters<typeof hasPrompt>[0], file: string): Problem[] =>
  hasPrompt(agent)
    ? []
    : [problem("missing-prompt", "The agent has no prompt.", { file, hint: "Write a prompt below the frontmatter." })];

const hasPrompt = ({ instructions, remote }: { readonly instructions: string; readonly remote?: unknown }): boolean =>
  instructions.trim() !== "" || remote !== undefined;

/**
 * The files of a path: the file itself, or the files below the folder. In folders, files that have no known format are
 * skipped.
 */
function filesAt(path: string, dialects: Dialects, wanted: string | undefined): LintFile[] {
  const stats = statsOf(path);
  if (stats === undefined)
    throw new CrewError("BAD_FILE", `The file or folder "${path}" does not exist.`, "Check the path.");
  if (!stats.isDirectory()) return [lintFileAt(path, dialects, wanted)];
  const all = below(path);
  const known = all.flatMap((file) => knownFile(file, dialects));
  if (wanted === undefined && known.length > 0) return known;
  const dialect = dialectNamed(dialects, wanted ?? "own");
  return all
    .filter((file) => dialect.accepts(basename(file)))
    .map((file) => ({ path: file, relative: relativeIn(path, file), dialect }));
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new CrewError("BAD_FILE", `"${path}" cannot be read: ${messageOf(error)}`, "Check the path.");
  }
}

/** A file to check. A file that the user named explicitly is always checked. */
export function lintFileAt(path: string, dialects: Dialects, wanted: string | undefined): LintFile {
  const place = dialectPlaceOf(path);
  const id = wanted ?? place?.dialect ?? (path.endsWith(".toml") ? "codex" : "own");
  const relative = place?.dialect === id ? place.relative : `${basename(dirname(path))}/${basename(path)}`;
  const dialect = dialectNamed(dialects, id);
  return { path, relative: id === "subagent" || place?.dialect === id ? relative : basename(path), dialect };
}

function knownFile(path: string, dialects: Dialects): LintFile[] {
  const place = dialectPlaceOf(path);
  const dialect = place && dialects[place.dialect];
  return dialect?.accepts(basename(path)) || isSettings(path, place?.relative)
    ? [{ path, relative: place!.relative, dialect: dialect! }]
    : [];
}

/** True for `opencode.json` and similar files, which define agents although they are not in a folder of agents. */
const isSettings = (path: string, relative: string | undefined): boolean =>
  relative === basename(path) && /^(?:opencode|kilo)\.jsonc?$/.test(relative);

function dialectNamed(dialects: Dialects, id: string): Dialect {
  const dialect = Object.hasOwn(dialects, id) ? dialects[id] : undefined;
  if (dialect) return dialect;
  throw new CrewError("BAD_INPUT", `Unknown dialect "${id}".`, `Use one of: ${Object.keys(dialects).join(", ")}.`);
}

const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git"]);

function below(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : below(path);
        return entry.isFile() || entry.isSymbolicLink() ? [path] : [];
      });
  } catch (error) {
    throw new CrewError(
      "BAD_FILE",
      `"${folder}" cannot be read: ${messageOf(error)}`,
      "Check the permissions of the folder.",
    );
  }
}

const relativeIn = (folder: string, file: string): string => file.slice(folder.length + 1).replaceAll("\\", "/");

/** Adds line numbers to problems that name a key. */
function placed(problems: readonly Problem[], dialects: Dialects, id?: string): readonly Problem[] {
  const texts = new Map<string, string | undefined>();
  const textOf = (file: string): string | undefined => {
    if (!texts.has(file)) texts.set(file, readIfThere(file));
    return texts.get(file);
  };
  return problems.map((each) => {
    const { file, field, line } = each;
    if (file === undefined || field === undefined || line !== undefined) return each;
    const dialect = dialects[id ?? dialectPlaceOf(file)?.dialect ?? "own"];
    const text = textOf(file);
    const found = text === undefined ? undefined : dialect?.lineOf?.(text, field);
    return found === undefined ? each : { ...each, line: found };
  });
}

function readIfThere(file: string): string | undefined {
  try {
    return readRegularTextSync(file);
  } catch {
    return undefined; // another problem already reports that the file cannot be read
  }
}
