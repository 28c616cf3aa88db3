import { isRecord, scalarText } from "../../core/text/json.ts";
import { foldName, type ToolGroups, toolsNamed } from "../../core/vocabulary/tool-names.ts";
import { type Restriction, restrictingKeys, vagueKeys } from "../yaml/restricting-keys.ts";
import { addProblem, type Draft, type KeyReader } from "./draft.ts";
import { opencodePermission } from "./permission-map.ts";
import { choice, flag, projectInstructions, readPermission, summaryChars } from "./rules.ts";
import { toolEntries } from "./tool-entries.ts";
import { disallowedTools } from "./denied-tools.ts";
import { spawns } from "./spawns.ts";
import { readonlyFlag, tools } from "./tools.ts";

/**
 * Readers for every key of any format that restricts an agent. They are used for formats that do not have the key: the
 * author copied it on purpose, and ignoring the restriction would give the agent more permissions than intended. Keys
 * are compared without case, `-` and `_`.
 */
export function narrowing(groups?: ToolGroups): Readonly<Record<string, KeyReader>> {
  const rows: Record<string, KeyReader> = {};
  const readers: Readonly<Record<Restriction, KeyReader>> = {
    tools: tools(groups),
    disallowedTools: disallowedTools(groups),
    permissionMode: readPermission,
    readonly: readonlyFlag,
    spawns,
    permission,
  };
  for (const [as, reader] of Object.entries(readers)) {
    const mistyped = LISTS.has(as) ? ifItNamesTools(mistaken(reader, as), groups) : mistaken(reader, as);
    for (const key of restrictingKeys[as as Restriction]) rows[key] = Object.assign(mistaken(reader, as), { mistyped });
  }
  const vague = (reader: KeyReader): KeyReader => Object.assign(reader, { suggested: false as const });
  const allowing = vague(ifItNamesTools(mistaken(tools(groups), "tools"), groups));
  const denying = vague(ifItNamesTools(mistaken(disallowedTools(groups), "disallowedTools"), groups));
  for (const key of vagueKeys.tools) rows[key] = allowing;
  for (const key of vagueKeys.disallowedTools) rows[key] = denying;
  for (const key of vagueKeys.readonly) rows[key] = vague(ifReadOnly);
  for (const [key, gone] of Object.entries(SWITCHES)) rows[key] = vague(ifRefused(gone));
  return { ...rows, ...everywhere };
}

/** Keys that hold a list of tools. */
const LISTS: ReadonlySet<string> = new Set(["tools", "disallowedTools"]);

/** subcrew's own keys that are also read in files of other formats, if the format tolerates unknown keys. */
const everywhere: Readonly<Record<string, KeyReader>> = {
  modelLock: flag("modelLock"),
  delegation: choice("delegationRule", { own: "own", ceiling: "ceiling" }),
  projectInstructions: projectInstructions(),
  summaryChars,
  summaryCut: choice("summaryCut", { simple: "simple", smart: "smart" }),
  summary: choice("summary", { last: "last", all: "all" }),
};

const WRITING = ["write_file", "edit_file", "delete_file", "move_file"];
const ASKING = ["http_get", "http_post", "http_request", "web_search"];
/** Names of tools as keys, with the tools that they remove when their value is a refusal: `bash: false`. */
const SWITCHES: Readonly<Record<string, readonly string[]>> = {
  bash: ["bash"],
  shell: ["bash"],
  terminal: ["bash"],
  write: WRITING,
  writeFile: WRITING,
  edit: WRITING,
  editFile: WRITING,
  network: ASKING,
  internet: ASKING,
  web: ASKING,
  webfetch: ["http_get"],
  websearch: ["web_search"],
};

function ifRefused(gone: readonly string[]): KeyReader {
  return (draft, value, key) => {
    if (!/^(?:den(?:y|ied)|never|disabled|false|no|off|none)$/i.test(scalarText(value).trim()))
      return unknownField(draft, key);
    mistaken(disallowedTools(), "disallowedTools")(draft, gone, key);
  };
}

function ifItNamesTools(reader: KeyReader, groups: ToolGroups | undefined): KeyReader {
  return (draft, value, key) => {
    const { named, excluded } = toolEntries(isRecord(value) ? Object.keys(value) : value) ?? {
      named: [],
      excluded: [],
    };
    const isTool = (entry: string): boolean => toolsNamed(entry.replace(/\s*\(.*$/s, ""), groups).length > 0;
    if ([...named, ...excluded].some(isTool)) reader(draft, value, key);
    else unknownField(draft, key);
  };
}

const READING: ReadonlySet<string> = new Set("readonly read plan readonlyaccess viewonly view none ro".split(" "));

export const ifReadOnly: KeyReader = (draft, value, key) => {
  const word = typeof value === "string" ? foldName(value.replace(/\s/g, "")) : "";
  if (!READING.has(word)) return unknownField(draft, key);
  mistaken(readonlyFlag, "readonly")(draft, true, key);
};

/** Reports a key that has no effect. */
function unknownField(draft: Draft, key: string): void {
  draft.kept.push(key);
  const message = `"${key}" is not a key of this kind of file; it has no effect.`;
  addProblem(draft, "unknown-field", message, { field: key, severity: "info" });
}

/** Reads a permission mode in one word, or rules for each tool as opencode writes them. */
const permission: KeyReader = (draft, value, key) =>
  isRecord(value) || Array.isArray(value) || typeof value === "string"
    ? opencodePermission(draft, value, key)
    : readPermission(draft, value, key);

/** Reads a key that belongs to another format, and reports the key `as` that should be used instead. */
function mistaken(reader: KeyReader, as: string): KeyReader {
  return (draft, value, key) => {
    reader(draft, value, key);
    if (foldName(key) === foldName(as)) {
      const known = `"${key}" is not a key of this kind of file; subcrew applies it nevertheless.`;
      return addProblem(draft, "unknown-field", known, { field: key, severity: "info" });
    }
    const message = `"${key}" is not a key of this kind of file; it was read as "${as}", so that the agent gets no extra tools.`;
    addProblem(draft, "unknown-field", message, { field: key, hint: `Did you mean "${as}"?` });
  };
}
