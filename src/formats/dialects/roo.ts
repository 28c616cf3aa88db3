import type { Dialect, FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { toolsNamed } from "../../core/vocabulary/tool-names.ts";
import { addProblem, defineFields, type KeyReader } from "../fields/draft.ts";
import { failedReading, joinReadings, readRecord } from "../fields/records.ts";
import { globsOf } from "../fields/regex-glob.ts";
import { bad, kept, text } from "../fields/rules.ts";
import { allow } from "../fields/denied-tools.ts";
import { canonical } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";
import { asData, jsonLineOf, readJson } from "../yaml/json.ts";
import { LONG_YAML, readYaml } from "../yaml/yaml.ts";

const GROUPS = {
  read: ["read_file", "list_files", "glob", "grep_files"],
  edit: ["write_file", "edit_file"],
  command: ["bash"],
  browser: ["http_get"],
  mcp: ["mcp_*"],
  modes: ["task"],
};

/**
 * Reads groups such as `read` or `[edit, { fileRegex }]`. A group whose `fileRegex` cannot be converted to globs is
 * left out.
 */
const groups: KeyReader = (draft, value, key) => {
  if (!Array.isArray(value)) {
    allow(draft, [], key);
    return bad(draft, key, "a list of groups; the agent gets no tools");
  }
  const names: string[] = [];
  for (const entry of value as unknown[]) {
    const [name, limits] = Array.isArray(entry) ? (entry as unknown[]) : [entry];
    const limited = asData(limits)?.["fileRegex"];
    if (typeof name !== "string") {
      addProblem(draft, "bad-value", `${JSON.stringify(entry)} of "${key}" is not a group; this entry is left out.`, {
        field: key,
      });
      continue;
    }
    const globs = typeof limited === "string" ? globsOf(limited) : undefined;
    if (limited === undefined) names.push(name);
    else if (globs === undefined) {
      const message = `The group "${name}" is limited to the files ${JSON.stringify(limited)}, a restriction that subcrew cannot enforce, so the agent does not get this group.`;
      addProblem(draft, "tool-rule", message, { field: key });
    } else {
      const tools = toolsNamed(name, GROUPS);
      names.push(...tools.flatMap((tool) => globs.map((glob) => `${tool}(${glob})`)));
    }
  }
  allow(draft, canonical(draft, names, { key, groups: GROUPS }), key);
};

/** Appends the custom instructions to the prompt, after the role. */
const customInstructions: KeyReader = (draft, value, key) => {
  if (typeof value !== "string") return bad(draft, key, "a text");
  draft.agent.instructions = [draft.agent.instructions, value.trim()].filter(Boolean).join("\n\n");
  draft.from["instructions"] ??= key;
};

const fields = defineFields({
  ...narrowing(GROUPS),
  slug: text("name"),
  name: text("displayName"),
  description: text("description"),
  whenToUse: text("whenToUse"),
  roleDefinition: text("instructions"),
  customInstructions,
  groups,
  source: kept(),
  iconName: kept(),
  rulesFiles: kept(),
});

/** Roo Code's modes (its word for agents). One YAML or JSON file contains all modes. */
export const rooDialect: Dialect = {
  id: "roo",
  accepts: (name) => name === ".roomodes" || name === "custom_modes.yaml",
  read: (source, place): ParsedFile => {
    const read = source.trimStart().startsWith("{")
      ? readJson(source)
      : readYaml(source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"), LONG_YAML);
    if (!read.ok) {
      const line = read.line === undefined ? {} : { line: read.line };
      return failedReading(
        problem("bad-yaml", `The file of Roo Code modes is not valid YAML or JSON: ${read.reason}.`, line),
      );
    }
    const modes = asData(read.value)?.["customModes"];
    if (!Array.isArray(modes)) return failedReading(problem("bad-definition", 'The file has no list "customModes".'));
    return joinReadings(modes.map((mode) => readMode(mode, place)));
  },
  lineOf: jsonLineOf,
};

function readMode(mode: unknown, place: FilePlace): ParsedFile {
  const data = asData(mode);
  if (data === undefined) return failedReading(problem("bad-definition", "A mode is not an object."));
  // the role comes first in the prompt, in whatever order the keys are
  const { customInstructions: last, ...rest } = data;
  const ordered = last === undefined ? data : { ...rest, customInstructions: last };
  return readRecord(fields, ordered, {
    place,
    description: "optional",
    settle: (draft) => {
      const { agent, from } = draft;
      if (data["groups"] === undefined) {
        allow(draft, [], "groups");
        addProblem(draft, "no-tools", 'The mode has no "groups", which Roo Code requires; the mode gets no tools.', {
          hint: 'Add "groups: [read]".',
        });
      }
      agent.description ??= agent.whenToUse ?? agent.displayName ?? "";
      from["description"] ??= agent.whenToUse === undefined ? "name" : "whenToUse";
    },
  });
}
