import type { Dialect, FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { type Data, frontmatterLineOf, readFrontmatter } from "../yaml/frontmatter.ts";
import { type Draft, emptyDraft, type Fields, readFields } from "./draft.ts";
import { finish, stemOf } from "./finish.ts";

/** The properties that distinguish Markdown dialects. */
export type MarkdownDialect = Readonly<{
  id: string;
  fields: Fields;
  accepts?(name: string): boolean;
  /** Files whose name begins with `_` are drafts and are ignored. */
  ignoreUnderscore?: boolean;
  /** The name, when no key gives one; `true` takes it from the file. */
  nameFromFile?: boolean | ((place: FilePlace) => string);
  nameRule?: RegExp;
  freeName?: boolean;
  description?: "required" | "optional";
  body?(body: string): string;
  /** A file without frontmatter is an agent, too: all of it is the prompt. */
  bare?: boolean;
  /** Rules about the agent as a whole, before it is finished. */
  settle?(draft: Draft, data: Data, place: FilePlace): void;
}>;

/** Creates a dialect of YAML frontmatter and a Markdown body. */
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
 * Removes keys that a repair invented from running text such as "Note: do this", unless the dialect has a similar key.
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
