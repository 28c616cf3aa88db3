import { scalarText } from "../../core/text/json.ts";
import type { Dialect, FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { foldName } from "../../core/vocabulary/tool-names.ts";
import { addProblem, type Draft, defineFields, type KeyReader } from "../fields/draft.ts";
import { stemOf } from "../fields/finish.ts";
import { markdown } from "../fields/markdown.ts";
import { failedReading, readRecord } from "../fields/records.ts";
import { choice, flag, kept, limit, model, readPermission, readSkills, readThinking, text } from "../fields/rules.ts";
import { disallowedTools } from "../fields/denied-tools.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";
import { split } from "../yaml/frontmatter.ts";
import { asData, jsonLineOf, readJson } from "../yaml/json.ts";

/** Reads the type: files may only define agents of type `custom`. */
const type: KeyReader = (draft, value, key) => {
  if (value !== "custom") addProblem(draft, "bad-definition", `"${key}" has to be "custom" in a file.`, { field: key });
};

const MODES: ReadonlySet<unknown> = new Set("default acceptEdits dontAsk plan bypassPermissions auto".split(" "));

/**
 * The permission modes in the first version of GenCode's files. `permissive` reads without questions and asks before
 * anything else; `isolated` asks. The mode `default` does both. `inherit` is the mode of the caller.
 */
const FIRST_MODES: ReadonlyMap<unknown, string | undefined> = new Map([
  ["permissive", "default"],
  ["isolated", "default"],
  ["inherit", undefined],
]);

/** Reads the permission mode. As in GenCode, an unknown mode makes the file invalid. */
const permissionMode: KeyReader = (draft, value, key) => {
  const mode = FIRST_MODES.has(value) ? FIRST_MODES.get(value) : value;
  if (mode === undefined) return;
  if (MODES.has(mode)) return readPermission(draft, mode, key);
  const message = `"${key}" has to be one of ${[...MODES, ...FIRST_MODES.keys()].join(", ")}.`;
  addProblem(draft, "bad-definition", message, { field: key });
};

/** Reads the number of turns. As in GenCode, zero or less makes the file invalid. */
const maxTurns: KeyReader = (draft, value, key) => {
  if (Number(scalarText(value)) > 0) return limit("maxTurns")(draft, value, key);
  addProblem(draft, "bad-definition", `"${key}" has to be a number above zero.`, { field: key });
};

const restricting = narrowing();

const fields = defineFields({
  ...restricting,
  name: text("name"),
  type,
  description: text("description"),
  whenToUse: text("whenToUse"),
  systemPrompt: text("instructions"),
  allowedTools: Object.assign(tools(), { mistyped: restricting["allowedTools"]!.mistyped! }),
  tools: tools(),
  disallowedTools: disallowedTools(),
  defaultModel: model,
  model,
  maxTurns,
  permissionMode,
  effort: readThinking,
  skills: readSkills,
  background: flag("background"),
  isolation: choice("isolation", { worktree: "worktree" }),
  permissionConfig: kept(),
  mcpServers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
  hooks: kept("is never run from an agent file"),
  color: kept(),
});

/**
 * GenCode's Markdown files. Without a name in the file, the agent gets the name of the file, also if the file is JSON.
 */
const gencodeMarkdown = markdown({ id: "gencode", fields, freeName: true, nameFromFile: true });

/** The agent files of GenCode: Markdown, JSON, or JSON in a Markdown file. */
export const gencodeDialect: Dialect = {
  id: "gencode",
  accepts: (name) => name.endsWith(".md") || name.endsWith(".json"),
  read: (text, place) => {
    if (place.relative.endsWith(".json")) return readJsonAgent(text, place);
    const { yaml, body, language } = split(text);
    if (yaml !== undefined || language !== undefined) return gencodeMarkdown.read(text, place);
    const read = body.startsWith("{") ? readJson(body) : undefined;
    if (read?.ok) return readJsonAgent(body, place);
    const details = read === undefined ? {} : { line: read.line, hint: `The JSON is not valid: ${read.reason}.` };
    return failedReading(
      problem("no-frontmatter", "No valid frontmatter or JSON found in markdown agent file", details),
    );
  },
  lineOf: (text, field) => gencodeMarkdown.lineOf?.(text, field) ?? jsonLineOf(text, field),
};

function readJsonAgent(text: string, place: FilePlace): ParsedFile {
  const read = readJson(text);
  if (!read.ok)
    return failedReading(
      problem("bad-json", `The GenCode agent file is not valid JSON: ${read.reason}.`, { line: read.line }),
    );
  const data = asData(read.value);
  if (data === undefined)
    return failedReading(problem("bad-json", "The agent file does not contain a single JSON object.", { line: 1 }));
  const settle = (draft: Draft): void => {
    if (draft.agent.instructions === undefined)
      addProblem(draft, "bad-definition", '"systemPrompt" is missing.', { field: "systemPrompt" });
    for (const [key, value] of Object.entries(data))
      if (TEXTS.has(foldName(key)) && (typeof value !== "string" || value.trim() === ""))
        addProblem(draft, "bad-definition", `"${key}" has to be a text.`, { field: key });
  };
  return readRecord(fields, data, { place, freeName: true, defaultName: stemOf(place.relative), settle });
}

/** Keys that have to be texts. In JSON, unlike in YAML, a number cannot be meant as a text. */
const TEXTS: ReadonlySet<string> = new Set(["name", "description", "systemPrompt"].map((key) => foldName(key)));
