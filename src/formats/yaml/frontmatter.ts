import { isRecord } from "../../core/text/json.ts";
import { type Problem, problem } from "../../core/vocabulary/file-problem.ts";
import { indentedFlows } from "./indented-flows.ts";
import { readLines, repaired } from "./repair.ts";
import { readYaml, type YamlResult, yamlLineOf } from "./yaml.ts";

/** Data parsed from a file: own keys only, no prototype. */
export type Data = Readonly<Record<string, unknown>>;

export type Recovery = "repaired" | "lossy";

export type Frontmatter = Readonly<{
  /** The parsed keys; absent when the file has no frontmatter, or when its frontmatter could not be read. */
  data?: Data;
  /** A list at the top level, which only one file format allows. */
  list?: readonly unknown[];
  /** The text after the frontmatter, trimmed, with LF line ends. */
  body: string;
  /** How invalid YAML was read: `repaired` only quoted values; `lossy` may have lost a line. */
  recovered?: Recovery;
  problems: readonly Problem[];
}>;

/** Parses the YAML frontmatter strictly. Unless `strict`, invalid YAML is repaired, which is always reported. */
export function readFrontmatter(text: string, { strict = false }: { readonly strict?: boolean } = {}): Frontmatter {
  const { yaml, body, language } = split(text);
  if (language !== undefined) {
    return nothing(
      body,
      problem("not-yaml", `The frontmatter is written in "${language}"; only YAML is read.`, { line: 1 }),
    );
  }
  if (yaml === undefined) return { body, problems: [] };
  const read: YamlResult = !strict && yaml.includes(COMMENTED) ? HIDDEN_DESCRIPTION : named(readLoosely(yaml), strict);
  if (read.ok) return isRecord(read.value) ? { data: read.value, body, problems: NONE } : withoutKeys(read.value, body);
  const where = read.line === undefined ? {} : { line: read.line + 1 };
  if (strict || read.kind === "limit") {
    return nothing(body, problem("bad-yaml", `The frontmatter is not valid YAML: ${read.reason}.`, where));
  }
  if (read.kind === "syntax") {
    const repair = repaired(indentedFlows(yaml));
    const again = readYaml(repair.yaml);
    if (!again.ok && again.kind === "limit")
      return nothing(body, problem("bad-yaml", `The frontmatter is not valid YAML: ${again.reason}.`, where));
    if (again.ok && isRecord(again.value)) {
      const note = problem(
        "repaired",
        `The YAML is not valid (${read.reason}); it was read as if its plain values were in quotes.`,
        {
          ...where,
          hint: "Put the value in quotes.",
        },
      );
      return { data: again.value, body, recovered: repair.lossy ? "lossy" : "repaired", problems: [note] };
    }
  }
  return byLines(yaml, body, { reason: read.reason, where });
}

/** Parses strict YAML, but accepts brackets (`[...]`, `{...}`) at any indentation, as PyYAML and yaml 2 accept them. */
function readLoosely(yaml: string): YamlResult {
  const strictly = readYaml(yaml);
  if (strictly.ok || strictly.kind !== "syntax") return strictly;
  const indented = indentedFlows(yaml);
  const again = indented === yaml ? strictly : readYaml(indented);
  return again.ok ? again : strictly;
}

/**
 * Treats a key without a name, as in a stray line `:`, as a syntax error. It is valid YAML, but the agent would lose
 * the fields below it.
 */
const named = (read: YamlResult, strict: boolean): YamlResult =>
  !strict && read.ok && isRecord(read.value) && Object.hasOwn(read.value, "null")
    ? { ok: false, kind: "syntax", reason: "a key has no name" }
    : read;

/** The beginning of a description that YAML reads as a comment, although its author meant text. */
const COMMENTED = "\ndescription: #";
const HIDDEN_DESCRIPTION: YamlResult = { ok: false, kind: "syntax", reason: "the description begins with a #" };

/** The line of a key in the whole file, counted from 1. */
export function frontmatterLineOf(text: string, key: string): number | undefined {
  const { yaml } = split(text);
  if (yaml === undefined) return undefined;
  const line = yamlLineOf(yaml, key) ?? plainLineOf(yaml, key);
  return line === undefined ? undefined : line + 1 + text.slice(0, text.indexOf("---")).split("\n").length - 1;
}

/**
 * Splits a file at the lines of dashes into frontmatter and body. If the second line of dashes is missing, the whole
 * file is body.
 */
export function split(text: string): { readonly yaml?: string; readonly body: string; readonly language?: string } {
  const plain = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  const start = beginning(plain);
  if (!plain.startsWith("---", start)) return { body: plain.slice(start).trim() };
  const firstEnd = plain.indexOf("\n", start);
  if (firstEnd === -1) return { body: plain.trim() };
  const language = plain.slice(start + 3, firstEnd).trim();
  if (language !== "")
    return /^[A-Za-z]\w*$/.test(language) ? { body: "", language } : { body: plain.slice(start).trim() };
  for (let at = firstEnd; at !== -1; at = plain.indexOf("\n---", at + 1)) {
    if (!plain.startsWith("\n---", at)) continue;
    const lineEnd = plain.indexOf("\n", at + 4);
    const rest = lineEnd === -1 ? plain.slice(at + 4) : plain.slice(at + 4, lineEnd);
    if (rest.trim() !== "") continue;
    return { yaml: plain.slice(firstEnd + 1, at + 1), body: lineEnd === -1 ? "" : plain.slice(lineEnd + 1).trim() };
  }
  return { body: plain.slice(start).trim() };
}

/** The position after a byte order mark and empty lines, which may precede the dashes. */
function beginning(text: string): number {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (text[at] === "\n") at++;
  return at;
}

const nothing = (body: string, why: Problem): Frontmatter => ({ body, problems: [why] });

const NONE: readonly Problem[] = [];

/** The result for a frontmatter that is empty or not a mapping. */
function withoutKeys(value: unknown, body: string): Frontmatter {
  const rest = { body, problems: NONE };
  if (value === null || value === undefined) return { data: Object.create(null) as Data, ...rest };
  if (Array.isArray(value)) return { list: value, ...rest };
  return nothing(body, problem("bad-yaml", "The frontmatter is a single value, not a list of keys.", { line: 2 }));
}

function byLines(
  yaml: string,
  body: string,
  { reason, where }: { reason: string; where: { line?: number } },
): Frontmatter {
  const { data, conflict } = readLines(yaml);
  if (conflict !== undefined) {
    const message = `The key "${conflict}" is given more than once, with different values.`;
    return nothing(body, problem("duplicate-key", message, { field: conflict, hint: "Keep one of the values." }));
  }
  if (Object.keys(data).length === 0)
    return nothing(body, problem("bad-yaml", `The frontmatter cannot be read: ${reason}.`, where));
  const note = problem(
    "recovered",
    `The YAML is not valid (${reason}); only its plain "key: value" lines were read.`,
    where,
  );
  return { data, body, recovered: "lossy", problems: [note] };
}

function plainLineOf(yaml: string, key: string): number | undefined {
  const at = yaml.split("\n").findIndex((line) => line.trimStart().startsWith(`${key}:`));
  return at === -1 ? undefined : at + 1;
}
