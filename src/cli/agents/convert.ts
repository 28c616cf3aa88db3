import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import { showHidden } from "../../core/agent/hidden-characters.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { nearest } from "../../core/text/nearest.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { dialects } from "../../formats/table.ts";
import { type ConvertedAgent, convert } from "../../formats/write/convert.ts";
import type { Loss } from "../../formats/write/losses.ts";
import { writers } from "../../formats/write/table.ts";
import { lintFileAt, readLintFile } from "../../runtime/discovery/lint.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { Flags } from "../base/flags.ts";
import { stdoutLook } from "../base/terminal.ts";

/** The command `subcrew agents convert FILE --to DIALECT`. */
export async function convertFile([file = ""]: readonly string[], flags: Flags): Promise<number> {
  const to = targetOf(flags.to);
  const all = readAll(file, flags.dialect).map((read) => ({ read, made: convert(read, to) }));
  if (all.length > 1 && !flags.check && flags.out === undefined && !flags.json) throw several(file, all.length);
  const written = flags.check || flags.out === undefined ? [] : all.map(({ made }) => save(made, flags.out!));
  if (flags.json) {
    const data = all.map(({ read, made: { text, path, losses, gained } }, at) => ({
      name: read.agent.name,
      to,
      path: written[at] ?? path,
      ...(flags.check ? {} : { text }),
      losses,
      gained,
    }));
    process.stdout.write(`${jsonText(data, 2)}\n`);
  } else {
    // Text for a file is not changed. On a terminal, control characters are made visible.
    const shown = (text: string): string => (process.stdout.isTTY ? showHidden(text) : text);
    for (const { made } of flags.check || flags.out !== undefined ? [] : all) process.stdout.write(shown(made.text));
    for (const path of written) process.stderr.write(`wrote ${sanitize(path)}\n`);
    for (const { read, made } of all) report(read, made, { ...flags, to });
  }
  const lost = all.some(({ made }) => made.losses.length > 0);
  return flags.strict && lost ? 1 : 0;
}

function targetOf(to: string | undefined): string {
  const names = Object.keys(writers);
  if (to !== undefined && names.includes(to)) return to;
  if (to === undefined)
    throw new CrewError("BAD_INPUT", "No target dialect given.", `Give --to one of: ${names.join(", ")}.`);
  const close = nearest(to, names);
  const hint = close === undefined ? `Use one of: ${names.join(", ")}.` : `Did you mean "${close}"?`;
  throw new CrewError("BAD_INPUT", `Unknown dialect "${to}".`, hint);
}

/** Reads the agents of a file. When the file has no agent, throws the problem found in the file. */
function readAll(file: string, dialect: string | undefined): readonly ReadAgent[] {
  const path = resolve(file);
  if (!existsSync(path))
    throw new CrewError(
      "BAD_FILE",
      `The file "${file}" does not exist.`,
      "Check the path; it is relative to the current folder.",
    );
  if (statSync(path).isDirectory())
    throw new CrewError("BAD_FILE", `"${file}" is a folder.`, "Name a file in this folder.");
  const { agents, problems } = readLintFile(lintFileAt(path, dialects, dialect));
  if (agents.length > 0) return agents;
  const why = problems.find(({ severity }) => severity === "error") ?? problems[0];
  throw new CrewError(
    "BAD_AGENT",
    `"${file}" contains no agent: ${why?.message ?? "it is empty"}`,
    why?.hint ?? "`subcrew agents lint` lists the mistakes.",
  );
}

const several = (file: string, many: number): CrewError =>
  new CrewError("BAD_INPUT", `"${file}" contains ${many} agents.`, "Use --out FOLDER, or --json.");

/** Writes the converted file. If `out` is a folder, the file gets the path below it that the target program expects. */
function save({ text, path }: ConvertedAgent, out: string): string {
  const isFolder = out.endsWith("/") || statSync(out, { throwIfNoEntry: false })?.isDirectory() === true;
  const target = isFolder ? join(out, path) : out;
  if (existsSync(target))
    throw new CrewError("BAD_FILE", `"${target}" already exists.`, "Delete the file first, or choose another name.");
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text, { flag: "wx" });
  return target;
}

function report({ agent }: ReadAgent, { losses, gained }: ConvertedAgent, flags: Flags & { to: string }): void {
  const { colors } = stdoutLook(flags);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  if (losses.length === 0) return say(sanitize(`${agent.name}: nothing is lost`));
  const dropped = losses.filter(({ kind }) => kind === "dropped").length;
  say(sanitize(`${agent.name} for ${flags.to}: ${dropped} dropped, ${losses.length - dropped} approximated`));
  for (const loss of losses) {
    const kind = loss.kind === "dropped" ? colors.red("dropped     ") : colors.yellow("approximated");
    say(`  ${kind}  ${colors.bold(terminalLine(loss.field))}${valuesOf(loss)}: ${terminalLine(loss.note)}`);
  }
  if (gained.length > 0)
    say(`  ${colors.red("more rights ")}  in that program the agent can also use: ${gained.join(", ")}`);
}

/** Describes a changed field; short values are shown before and after. */
function valuesOf({ was, now }: Loss): string {
  const short = (value: unknown): string | undefined => {
    const text =
      typeof value === "string" ? value : Array.isArray(value) && value.length > 3 ? undefined : JSON.stringify(value);
    return text !== undefined && text.length <= 40 ? text : undefined;
  };
  const [before, after] = [short(was), short(now)];
  if (before === undefined) return "";
  return ` (${terminalLine(after === undefined || after === before ? before : `${before} -> ${after}`)})`;
}
