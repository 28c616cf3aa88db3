import { relative } from "node:path";
import { jsonText } from "../../core/text/json-text.ts";
import type { Problem, Severity } from "../../core/vocabulary/file-problem.ts";
import { dialects } from "../../formats/table.ts";
import { type LintFile, type LintReport, lintDiscovery, lintFileAt, lintPaths } from "../../runtime/discovery/lint.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { Flags } from "../base/flags.ts";
import { stdoutLook } from "../base/terminal.ts";
import { crewFor } from "../launch/start.ts";

/** The command `subcrew agents lint [PATHS]`. */
export async function lint(paths: readonly string[], flags: Flags): Promise<number> {
  const crew = await crewFor(flags);
  const look = async (): Promise<LintReport> =>
    paths.length > 0 ? lintPaths(paths, dialects, flags.dialect) : lintDiscovery(await crew.agents(), dialects);
  const before = await look();
  const fixed =
    flags.fix === true && (await (await import("./lint-fix.ts")).fixFiles(crew, filesOf(before, paths, flags), flags));
  const linted = fixed ? await look() : before;
  const problems = crew
    .masked(linted.problems)
    .map((each) => withSeverity(each, flags.strict ?? false))
    .toSorted(byPlace);
  const counts = countsOf(problems);
  const cwd = process.cwd();
  const near = problems.map((each) => (each.file === undefined ? each : { ...each, file: shown(each.file, cwd) }));
  if (flags.format === "json") {
    process.stdout.write(`${jsonText({ files: linted.files.length, ...counts, problems: near }, 2)}\n`);
  } else {
    text(near, flags);
    process.stderr.write(`${summary(linted, counts)}\n`);
  }
  return counts.errors > 0 ? 1 : 0;
}

/** The checked files, each with its file format. */
const filesOf = ({ files }: LintReport, paths: readonly string[], { dialect }: Flags): readonly LintFile[] =>
  files.map((file) => lintFileAt(file, dialects, paths.length > 0 ? dialect : undefined));

const withSeverity = (each: Problem, strict: boolean): Problem =>
  strict && each.severity === "warning" ? { ...each, severity: "error" } : each;

function byPlace(a: Problem, b: Problem): number {
  const [one, other] = [a.file ?? "", b.file ?? ""];
  return one === other ? (a.line ?? 0) - (b.line ?? 0) : one < other ? -1 : 1;
}

type Counts = Readonly<{ errors: number; warnings: number; infos: number }>;

function countsOf(problems: readonly Problem[]): Counts {
  const many = (wanted: Severity): number => problems.filter(({ severity }) => severity === wanted).length;
  return { errors: many("error"), warnings: many("warning"), infos: many("info") };
}

/** The path relative to the current folder, for files below that folder. */
function shown(file: string, cwd: string): string {
  const near = relative(cwd, file);
  return near.startsWith("..") || near === "" ? file : near;
}

/** Prints each problem as `file:line: error code: message`, then its fix. */
function text(problems: readonly Problem[], flags: Flags): void {
  const { colors } = stdoutLook(flags);
  const color: Readonly<Record<Severity, (text: string) => string>> = {
    error: colors.red,
    warning: colors.yellow,
    info: colors.dim,
  };
  for (const { severity, code, message, file = "(no file)", line, hint } of problems) {
    if (severity === "info" && !flags.all) continue;
    const place = `${terminalLine(file)}${line === undefined ? "" : `:${line}`}`;
    process.stdout.write(`${place}: ${color[severity](severity)} ${code}: ${terminalLine(message)}\n`);
    if (hint !== undefined) process.stdout.write(`    ${terminalLine(hint)}\n`);
  }
}

function summary({ files }: LintReport, { errors, warnings, infos }: Counts): string {
  const parts = [`${count(errors, "error")}, ${count(warnings, "warning")} in ${count(files.length, "file")}`];
  if (infos > 0) parts.push(`--all shows ${infos} more`);
  return parts.join("; ");
}

const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? "" : "s"}`;
