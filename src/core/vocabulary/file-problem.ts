/** Everything that can be wrong with an agent file, and its severity unless a file format says otherwise. */
const severities = {
  unreadable: "error",
  "too-big": "error",
  "not-text": "error",
  "not-yaml": "error",
  "bad-yaml": "error",
  "bad-json": "error",
  "bad-toml": "error",
  "duplicate-key": "error",
  "no-frontmatter": "error",
  "missing-name": "error",
  "missing-description": "error",
  "missing-prompt": "warning",
  "bad-name": "error",
  "reserved-name": "error",
  "name-differs": "error",
  "mixed-scripts": "warning",
  "look-alike": "warning",
  "bad-value": "warning",
  "bad-definition": "error",
  "link-outside": "error",
  "unknown-base": "error",
  "inheritance-cycle": "error",
  repaired: "warning",
  recovered: "warning",
  "read-only": "warning",
  "unknown-field": "warning",
  "unknown-tool": "warning",
  "tool-rule": "warning",
  "no-tools": "warning",
  "hidden-characters": "warning",
  "bad-registry": "warning",
  duplicate: "warning",
  deprecated: "warning",
  "no-effect": "info",
} as const;

export type ProblemCode = keyof typeof severities;
export type Severity = "error" | "warning" | "info";

/** One thing a person should know about one file. An `error` means that the agent was not loaded. */
export type Problem = Readonly<{
  code: ProblemCode;
  severity: Severity;
  message: string;
  file?: string;
  /** The key that the problem is about, as written in the file; its line is looked up lazily. */
  field?: string;
  line?: number;
  /** What to do about the problem, in one sentence. */
  hint?: string;
}>;

export type ProblemDetails = Partial<Pick<Problem, "severity" | "file" | "field" | "line" | "hint">>;

/** A problem with the usual severity of its code, unless `details` say otherwise. */
export function problem(code: ProblemCode, message: string, details: ProblemDetails = {}): Problem {
  return { code, severity: severities[code], message, ...details };
}

/** True when one of the problems kept the agent from being loaded. */
export const hasError = (problems: readonly Problem[]): boolean =>
  problems.some(({ severity }) => severity === "error");
