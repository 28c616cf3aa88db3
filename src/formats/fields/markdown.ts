import type { Dialect, FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { isRecord } from "../../core/text/json.ts";
import { type Data, frontmatterLineOf, readFrontmatter, split } from "../yaml/frontmatter.ts";
import { restrictedBy } from "../yaml/restricting-keys.ts";
import { restrictionsIn } from "../yaml/restrictions.ts";
import { type Draft, emptyDraft, type Fields, readFields } from "./draft.ts";
import { finish, stemOf } from "./finish.ts";
import { deniedBy } from "./denied-tools.ts";
import { lookOnly } from "./look-only.ts";
import { opencodePermission } from "./permission-map.ts";
import { readPermission } from "./rules.ts";

/** The properties in which the Markdown formats differ. */
export type MarkdownDialect = Readonly<{
  id: string;
  fields: Fields;
  accepts?(name: string): boolean;
  /** True: files whose name begins with `_` are drafts and are ignored. */
  ignoreUnderscore?: boolean;
  /** Where the agent's name comes from when no key gives a name; `true`: from the file name. */
  nameFromFile?: boolean | ((place: FilePlace) => string);
  nameRule?: RegExp;
  freeName?: boolean;
  description?: "required" | "optional";
  body?(body: string): string;
  /** True: a file without frontmatter is an agent, too: all of it is the prompt. */
  bare?: boolean;
  /** Adjusts the agent as a whole after all keys were read. */
  settle?(draft: Draft, data: Data, place: FilePlace): void;
}>;

/** Creates a file format that consists of YAML frontmatter and a Markdown body. */
export function markdown(dialect: MarkdownDialect): Dialect {
  return {
    id: dialect.id,
    accepts: (name) => (dialect.accepts ?? isMarkdown)(name) && !(dialect.ignoreUnderscore && name.startsWith("_")),
    read: (text, place) => readMarkdown(dialect, text, place),
    lineOf: frontmatterLineOf,
  };
}

export const isMarkdown = (name: string): boolean => name.endsWith(".md");

function readMarkdown(dialect: MarkdownDialect, text: string, place: FilePlace): ParsedFile {
  const { data, body, recovered, problems } = readFrontmatter(text);
  if (data === undefined && !(dialect.bare && problems.length === 0)) {
    if (problems.length > 0) return { agents: [], problems };
    const severity = /^readme\b/i.test(stemOf(place.relative)) ? "info" : "error";
    return {
      agents: [],
      problems: [problem("no-frontmatter", "The file does not begin with frontmatter.", { severity })],
    };
  }
  const draft = emptyDraft();
  for (const found of problems) draft.problems.push(found);
  const raw = data ?? NO_DATA;
  readFields(dialect.fields, recovered === undefined ? raw : withoutInvented(dialect.fields, raw), draft);
  dialect.settle?.(draft, raw, place);
  if (recovered !== undefined) keepRestrictions(draft, { yaml: split(text).yaml ?? "", raw }, dialect.fields);
  return finish(draft, {
    place,
    raw,
    body: dialect.body?.(body) ?? body,
    recovered,
    defaultName: draft.agent.name === undefined ? defaultName(dialect, place) : undefined,
    nameRule: dialect.nameRule,
    freeName: dialect.freeName ?? false,
    description: dialect.description ?? "required",
  });
}

/**
 * Applies the restrictions that the lines of a broken frontmatter show, in addition to the restrictions in its repaired
 * form: a stray line can divide a list, and the repair then gives the rest of the list to another key or drops it.
 */
function keepRestrictions(draft: Draft, { yaml, raw }: { yaml: string; raw: Data }, fields: Fields): void {
  const { denied, answers, modes, listed } = restrictionsIn(yaml);
  const known = draft.agent.disallowedTools ?? [];
  const isKnown = (entry: string): boolean => {
    const names = deniedBy(entry, undefined);
    return known.includes(entry) || (names.length > 0 && names.every((name) => known.includes(name)));
  };
  const added = denied.filter((entry) => !isKnown(entry));
  if (added.length > 0) fields.ruleOf("disallowedTools")?.(draft, [...new Set(added)], "disallowedTools");
  if (answers.length > 0)
    opencodePermission(draft, Object.fromEntries(answers.map((tool) => [tool, "deny"])), "permission");
  const { tools: from = "" } = draft.from;
  // A map of switches leaves other tools on, but these lines show that tools were listed.
  if (listed.length > 0 && isRecord(raw[from])) fields.ruleOf("tools")?.(draft, [...new Set(listed)], from);
  for (const key of modes) {
    if (restrictedBy(key) === "readonly") lookOnly(draft, key);
    else readPermission(draft, "plan", key);
  }
}

/**
 * Removes keys that only exist because broken YAML was repaired: the repair makes such keys of running text such as
 * "Note: do this". A key is kept if the file format has a similar key.
 */
function withoutInvented(fields: Fields, data: Data): Data {
  const kept = Object.entries(data).filter(
    ([key]) => fields.ruleOf(key) !== undefined || fields.nearest(key) !== undefined,
  );
  return Object.assign(Object.create(null) as Record<string, unknown>, Object.fromEntries(kept));
}

function defaultName({ nameFromFile = false }: MarkdownDialect, place: FilePlace): string | undefined {
  if (typeof nameFromFile === "function") return nameFromFile(place);
  return nameFromFile ? stemOf(place.relative) : undefined;
}

const NO_DATA: Data = Object.freeze(Object.create(null) as Record<string, unknown>);
