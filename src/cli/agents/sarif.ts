import { isAbsolute, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { version } from "../../core/text/version.ts";
import type { Problem, Severity } from "../../core/vocabulary/file-problem.ts";

const LEVELS: Readonly<Record<Severity, "error" | "warning" | "note">> = {
  error: "error",
  warning: "warning",
  info: "note",
};

/** Problems as SARIF 2.1.0, for code scanners. https://docs.oasis-open.org/sarif/sarif/v2.1.0/ */
export function sarif(problems: readonly Problem[]): Readonly<Record<string, unknown>> {
  const codes = [...new Set(problems.map(({ code }) => code))].sort();
  const driver = {
    name: "subcrew",
    semanticVersion: version,
    rules: codes.map((code) => ({ id: code, shortDescription: { text: sentence(code) } })),
  };
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver }, columnKind: "utf16CodeUnits", results: problems.map((each) => result(each, codes)) }],
  };
}

function result({ code, severity, message, hint, file, line }: Problem, codes: readonly string[]): object {
  const text = hint === undefined ? message : `${message} ${hint}`;
  const region = line === undefined ? {} : { region: { startLine: Math.max(1, line) } };
  const artifactLocation = file === undefined ? undefined : { uri: uriOf(file) };
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: LEVELS[severity],
    message: { text },
    ...(artifactLocation && { locations: [{ physicalLocation: { artifactLocation, ...region } }] }),
  };
}

/** The path relative to the root of the scan, if the file is below it. */
function uriOf(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href;
  return file.split(sep).map(encodeURIComponent).join("/");
}

/** Turns a problem code into a sentence: `bad-yaml` becomes "Bad yaml". */
function sentence(code: string): string {
  const words = code.replaceAll("-", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
