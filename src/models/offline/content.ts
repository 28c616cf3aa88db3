import { cutHead } from "../../core/text/cut.ts";
import { words } from "../../core/text/words.ts";
import type { ReportedPlace } from "./report.ts";
import type { Schema } from "./schema.ts";

/** The findings of the offline model, from which it fills the fields of a structured result. */
export type Report = Readonly<{
  title: string;
  text: string;
  summary: string;
  findings: readonly ReportedPlace[];
  quoted: readonly string[];
  steps: readonly string[];
}>;

/** A field of a result to be filled: its name, and the finding that the enclosing object describes. */
export type Slot = Readonly<{
  name: string;
  report: Report;
  finding: ReportedPlace | undefined;
  /** The text for the field, if it was already chosen. */
  text?: string;
  /** True: an unknown field name gives an empty text. This serves to test whether a name is known. */
  known?: boolean;
}>;

/** Whether the name of a field suggests that it reports a failure. */
export function speaksOfFailure(name: string): boolean {
  return /^(?:error|errors|fault|failure|failed|exception|aborted|cancel+ed|blocked|blocker)s?$/i.test(name);
}

/** A text for a field, chosen by the field's name, within the limits of its schema. */
export function stringFor(schema: Schema, slot: Slot): string {
  const { format, pattern } = schema;
  if (typeof format === "string" && Object.hasOwn(FORMATS, format)) return FORMATS[format] ?? "";
  const text = sized(schema, slot.text ?? textFor(slot));
  return typeof pattern === "string" ? matching(pattern, text, schema, slot) : text;
}

/** The texts for a list. In an object about one file, only texts about that file are used. */
export function listFor({ name, finding, report: { findings: found, quoted, steps, summary } }: Slot): string[] {
  const findings = finding === undefined ? found : found.filter(({ path }) => path === finding.path);
  const all = ((): readonly string[] => {
    if (/trace|steps?$|actions?|log$|history|searche?s|method/i.test(name)) return steps;
    if (/files?|paths?|locations?|sources?|modules?|documents?/i.test(name)) return findings.map(({ path }) => path);
    if (/symbols?|names?|functions?|class|identifiers?|exports?|keys?|terms?/i.test(name))
      return findings.flatMap(({ symbol }) => symbol ?? []);
    if (/code|snippets?|quotes?|lines?|evidence/i.test(name)) return findings.map(({ quote }) => quote);
    if (
      speaksOfFailure(name) ||
      /warnings?|risks?|issues?|problems?|missing|open|todo|questions?|recommend|suggest/i.test(name)
    )
      return [];
    const told = findings.map(({ path, line, quote }) => `${path}:${line} ${quote}`);
    return told.length > 0 ? told : quoted.length > 0 ? quoted : [summary];
  })();
  return [...new Set(all)].filter((text) => text !== "").slice(0, 10);
}

/**
 * A number for a field of the answer: a line number of a finding, the number of findings, or the minimum of the schema.
 */
export function numberFor(schema: Schema, { name, report: { findings }, finding }: Slot, whole: boolean): number {
  const bound = (key: string): number | undefined => (typeof schema[key] === "number" ? schema[key] : undefined);
  const unit = bound("multipleOf") ?? (whole ? 1 : 0);
  const step = unit > 0 ? unit : 1e-6;
  const [above, below] = [bound("exclusiveMinimum"), bound("exclusiveMaximum")];
  const least = Math.max(bound("minimum") ?? -Infinity, above === undefined ? -Infinity : nextTo(above, step));
  const most = Math.min(bound("maximum") ?? Infinity, below === undefined ? Infinity : -nextTo(-below, step));
  const wish =
    bound("default") ??
    (/line|row/i.test(name)
      ? (finding?.line ?? findings[0]?.line ?? 1)
      : /count|total|number|matches/i.test(name)
        ? findings.length
        : 0);
  const value = Math.min(Math.max(wish, least), most);
  if (unit === 0 || Number.isInteger(value / unit)) return value;
  const up = Math.ceil(value / unit) * unit;
  return up <= most ? up : Math.floor(value / unit) * unit;
}

/**
 * A boolean for a field: true only for statements that a search can make, such as that it is done or that it found
 * something.
 */
export function truthFor({ name, report: { findings } }: Slot): boolean {
  if (/found|match|exists/i.test(name)) return findings.length > 0;
  return /done|complete|finish|ok$|success/i.test(name);
}

/**
 * Picks an enum value: for a status the value that means done, for a verdict a neutral or else a negative value,
 * otherwise the value that claims the least.
 */
export function enumValue(values: readonly unknown[], name: string): unknown {
  const order = /status|state|result|outcome/i.test(name)
    ? DONE
    : /verdict|decision|approv/i.test(name)
      ? VERDICTS
      : MODEST;
  const match = order.flatMap((wanted) =>
    values.filter((value) => String(value).toLowerCase().replace(/[\s-]/g, "_") === wanted),
  )[0];
  return match ?? values.find((value) => value !== null) ?? null;
}

const DONE = ["ok", "success", "succeeded", "completed", "complete", "done", "finished", "partial"];
/**
 * Names of fields that hold a verdict. The offline model cannot judge, so no program may take its verdict for an
 * approval.
 */
const VERDICTS = words(
  "unknown none abstain comment not_judged incorrect request_changes changes_requested needs_changes needs_work revise rejected reject failed fail no",
);
const MODEST = ["unknown", "none", "n/a", "not_applicable", "other", "info", "low", "minor"];

/** Example values for each string format. They are fixed, so that the same request gives the same answer. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "1970-01-01T00:00:00Z",
  date: "1970-01-01",
  time: "00:00:00Z",
  duration: "PT0S",
  email: "nobody@example.com",
  "idn-email": "nobody@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  "uri-reference": "https://example.com/",
  iri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
  regex: ".*",
  "json-pointer": "",
};

function textFor({ name, report, finding, known }: Slot): string {
  const about =
    finding ?? (/^(?:file|path|symbol|location|snippet|quote)/i.test(name) ? report.findings[0] : undefined);
  if (about !== undefined) {
    if (/file|path|module|source/i.test(name)) return about.path;
    if (/location|where|place|ref/i.test(name)) return `${about.path}:${about.line}`;
    if (/symbol|name|function|class|identifier|title|id$|key/i.test(name)) return about.symbol ?? about.path;
    if (/line/i.test(name)) return String(about.line);
    if (/code|snippet|quote|evidence|text|content|excerpt/i.test(name)) return about.quote;
    if (known && !/reason|why|desc|explan|relevance|note|detail|summary|comment|message|purpose/i.test(name)) return "";
    return `${about.reason}: ${about.quote}`;
  }
  if (/title|headline|subject|question|query|task|objective|goal/i.test(name)) return report.title || report.summary;
  if (/summary|overview|abstract|tl_?dr|conclusion|short|brief|headline/i.test(name)) return report.summary;
  if (
    known &&
    !/result|answer|report|text|content|output|response|findings|analysis|body|message|notes?|details?|explanation|markdown|data/i.test(
      name,
    )
  )
    return "";
  return report.text || report.summary;
}

function sized({ minLength, maxLength }: Schema, text: string): string {
  const most = typeof maxLength === "number" ? maxLength : Infinity;
  const least = typeof minLength === "number" ? Math.min(minLength, 10_000) : 0;
  const head = most === Infinity ? text : cutHead(text, most).text;
  return head.padEnd(least, ".");
}

/**
 * Returns the first of a few short texts that matches the pattern. A pattern from outside is never applied to a long
 * text.
 */
function matching(pattern: string, text: string, schema: Schema, { finding, report }: Slot): string {
  const about = finding ?? report.findings[0];
  const offers = [
    text,
    about?.path,
    about?.symbol,
    `${about?.path}:${about?.line}`,
    "none",
    "a",
    "A",
    "a-a",
    "a_a",
    "0",
    "1",
    "1.0",
    "1.0.0",
    "v1.0.0",
    "#0",
    "A-1",
    "ABC-123",
    "REVISION_NEEDED",
    "README.md:1",
    "1970-01-01",
    "#000000",
    "https://example.com/",
    "/",
    "./",
    "",
  ];
  try {
    const expression = new RegExp(pattern, "u");
    const fits = (offer: string | undefined): offer is string =>
      offer !== undefined && offer.length <= 60 && sized(schema, offer) === offer && expression.test(offer);
    return offers.find(fits) ?? (text.length > 60 && fits(text.slice(0, 40)) ? text.slice(0, 40) : text);
  } catch {
    return text;
  }
}

const nextTo = (bound: number, step: number): number => (Math.floor(bound / step) + 1) * step;
