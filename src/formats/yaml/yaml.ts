import { scalarText } from "../../core/text/json.ts";
import {
  CORE_SCHEMA,
  constructFromEvents,
  defineMappingTag,
  EVENT_ID,
  type Event,
  getScalarValue,
  mergeTag,
  parseEvents,
  YAMLException,
} from "js-yaml";
import { readSimpleYaml } from "./simple-yaml.ts";

/** Limits of the parser: a text beyond them is an attack or a mistake, not a frontmatter. */
export const YAML_LIMITS = { bytes: 64 * 1024, depth: 64, keys: 1000, aliases: 32, nodes: 10_000 };

/** Limits for files that are only YAML, or hold several agents. Such files may be longer than a frontmatter. */
export const LONG_YAML = { bytes: 1024 * 1024 };

export type YamlResult =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly reason: string;
      /**
       * The kind of problem. `syntax`: a repair may help. `limit` and `duplicate` (a key given twice) cannot be
       * repaired.
       */
      readonly kind: "syntax" | "duplicate" | "limit";
      /** The line of the problem, counted from 1. */
      readonly line?: number;
    };

/**
 * Parses strict YAML 1.2 with the core schema: the result is plain data without prototypes; other tags are refused,
 * merge keys (`<<`) are resolved, and only one document is allowed.
 */
export function readYaml(text: string, { bytes = YAML_LIMITS.bytes }: { readonly bytes?: number } = {}): YamlResult {
  if (text.length > bytes) return refused(`longer than ${bytes} bytes`);
  const simple = readSimpleYaml(text, YAML_LIMITS.keys);
  if (simple !== undefined && "value" in simple) return { ok: true, value: simple.value };
  if (simple !== undefined) return { ok: false, kind: "syntax", reason: simple.broken, line: simple.line };
  if (text.length > YAML_LIMITS.keys && (text.match(KEY_LINE)?.length ?? 0) > YAML_LIMITS.keys)
    return refused(TOO_MANY);
  try {
    const events = parseEvents(text, { maxDepth: YAML_LIMITS.depth });
    if (events.length > YAML_LIMITS.keys && keysIn(events) > YAML_LIMITS.keys) return refused(TOO_MANY);
    const documents = constructFromEvents(events, { source: text, schema: SCHEMA, maxAliases: YAML_LIMITS.aliases });
    if (documents.length > 1) return { ok: false, kind: "syntax", reason: "more than one YAML document" };
    const value = documents[0];
    return { ok: true, value: hasAlias(events) ? unshared(value, { nodes: YAML_LIMITS.nodes }) : value };
  } catch (error) {
    return failure(error);
  }
}

const TOO_MANY = `more than ${YAML_LIMITS.keys} keys`;
/** Matches a top-level key: unindented lines are keys, so they can be counted without a parser. */
const KEY_LINE = /^[^\s#][^\n]*?:(?=\s)/gm;

/** The line of a top-level key, counted from 1. */
export function yamlLineOf(text: string, key: string): number | undefined {
  try {
    let depth = 0;
    let isKey = true;
    for (const event of parseEvents(text, { maxDepth: YAML_LIMITS.depth })) {
      if (depth === 2 && event.type === EVENT_ID.SCALAR && isKey && getScalarValue(text, event) === key) {
        return text.slice(0, event.valueStart).split("\n").length;
      }
      if (depth === 2 && event.type !== EVENT_ID.POP) isKey = !isKey;
      if (event.type === EVENT_ID.POP) depth--;
      else if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS) depth++;
    }
  } catch {
    return undefined; // text that cannot be parsed has no keys; the caller then searches its lines
  }
  return undefined;
}

/** A YAML mapping becomes an object without a prototype: `__proto__` is a key like any other. */
const plainMap = defineMappingTag<Record<string, unknown>>("tag:yaml.org,2002:map", {
  create: () => Object.create(null) as Record<string, unknown>,
  addPair: (map, key, value) => {
    if (key !== null && typeof key === "object") return "a mapping is used as a key";
    map[String(key)] = value;
    return "";
  },
  has: (map, key) => scalarText(key) in map,
  keys: (map) => Object.keys(map),
  get: (map, key) => map[scalarText(key)],
  identify: () => false,
});
const SCHEMA = CORE_SCHEMA.withTags(plainMap, mergeTag);

const refused = (reason: string): YamlResult => ({ ok: false, kind: "limit", reason });

function failure(error: unknown): YamlResult {
  if (!(error instanceof YAMLException)) return { ok: false, kind: "limit", reason: String(error) };
  const { reason, mark } = error;
  const limit = /maxDepth|aliases/.test(reason);
  const kind = limit ? "limit" : /duplicat/.test(reason) ? "duplicate" : "syntax";
  return { ok: false, kind, reason, ...(mark === undefined ? {} : { line: mark.line + 1 }) };
}

/** The number of keys of parsed nodes. In a mapping every second node is a key. */
function keysIn(events: readonly Event[]): number {
  let keys = 0;
  const open: { mapping: boolean; children: number }[] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      open.pop();
      continue;
    }
    const parent = open.at(-1);
    if (parent?.mapping && parent.children++ % 2 === 0) keys++;
    if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS) {
      open.push({ mapping: event.type === EVENT_ID.MAPPING, children: 0 });
    }
  }
  return keys;
}

const hasAlias = (events: readonly Event[]): boolean => events.some(({ type }) => type === EVENT_ID.ALIAS);

/** Copies a parsed value in which aliases share objects; throws if the copy would grow without bound. */
function unshared(value: unknown, budget: { nodes: number }): unknown {
  if (--budget.nodes < 0) throw new YAMLException("the aliases stand for too many values in total");
  if (Array.isArray(value)) return value.map((item) => unshared(item, budget));
  if (value === null || typeof value !== "object") return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of Object.entries(value)) copy[key] = unshared(item, budget);
  return copy;
}

/** The parser's error message about an invalid text, with its place. */
export function yamlFaultOf(text: string): string | undefined {
  if (text.length > YAML_LIMITS.bytes) return undefined;
  try {
    const events = parseEvents(text, { maxDepth: YAML_LIMITS.depth });
    constructFromEvents(events, { source: text, schema: SCHEMA, maxAliases: YAML_LIMITS.aliases });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
