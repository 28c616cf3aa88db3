import { readNamedFile } from "../../runtime/disk/regular-file.ts";
import { CORE_SCHEMA, load, YAMLException } from "js-yaml";
import type { AnyInput } from "../../core/plan/input.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { isRecord } from "../../core/text/json.ts";
import { isBarePlan, type Mode, modeOf } from "../../modes/compile.ts";
import { checkInputLinks } from "../base/project-links.ts";

/**
 * Reads the input in a file or on standard input and adds its mode. Throws when `wanted` is given and the mode
 * differs.
 */
export async function readInput(file: string, wanted?: Mode): Promise<AnyInput> {
  const value = await readData(file);
  const mode = modeOf(value);
  if (wanted !== undefined && mode !== wanted) {
    throw new CrewError(
      "BAD_INPUT",
      `${titleOf(file)} contains a ${mode} input, but this command runs ${wanted}.`,
      `Use \`subcrew ${commandOf(mode)} --input ${file}\`.`,
    );
  }
  return isBarePlan(value) || !isRecord(value) ? { mode, plan: value } : { ...value, mode };
}

/** Parses the JSON or YAML in a file or on standard input. Duplicate keys are refused in both formats. */
export async function readData(file: string): Promise<unknown> {
  const text = await readText(file);
  if (text.trim() === "") throw new CrewError("BAD_FILE", `${titleOf(file)} is empty.`, "Provide JSON or YAML.");
  try {
    return load(text, { schema: CORE_SCHEMA }); // YAML includes JSON, so this parses both
  } catch (error) {
    throw malformed(file, text, error);
  }
}

/** The text of a file, or everything on standard input. */
export async function readText(file: string): Promise<string> {
  if (file === "-") return readStdin();
  checkInputLinks(file);
  const text = await readNamedFile(file, MOST_BYTES).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EFBIG" ? tooLarge(file) : unreadable(file, error);
  });
  return text.replace(/^\ufeff/, "");
}

/** The size limit of an input, in megabytes. */
const MOST_MEGABYTES = 16;
const MOST_BYTES = MOST_MEGABYTES * 2 ** 20;

const tooLarge = (file: string): CrewError =>
  new CrewError("BAD_FILE", `${titleOf(file)} is larger than ${MOST_MEGABYTES} MB.`, "Give a smaller file.");

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(Buffer.from(chunk as Uint8Array));
    bytes += chunks.at(-1)!.length;
    if (bytes > MOST_BYTES) throw tooLarge("-");
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/^\ufeff/, "");
}

function malformed(file: string, text: string, error: unknown): CrewError {
  const { reason, mark } = error instanceof YAMLException ? error : { reason: messageOf(error), mark: undefined };
  const line = mark === undefined ? "" : ` (line ${mark.line + 1})`;
  if (mark && /duplicated mapping key/.test(reason)) {
    const key = /^["']?([^"':\n]*)/.exec(text.split("\n")[mark.line]?.slice(mark.column) ?? "")?.[1] ?? "";
    return new CrewError(
      "PLAN_DUPLICATE_ID",
      `${titleOf(file)} has the key "${key}" twice${line}.`,
      "Give each key a unique name.",
    );
  }
  return new CrewError(
    "BAD_FILE",
    `${titleOf(file)} is neither JSON nor YAML: ${reason}${line}.`,
    "Correct the syntax.",
  );
}

function unreadable(file: string, { code, message }: NodeJS.ErrnoException): CrewError {
  if (code === "ENOENT")
    return new CrewError(
      "BAD_FILE",
      `The file "${file}" does not exist.`,
      "Check the path; it is relative to the current folder.",
    );
  if (code === "EISDIR") return new CrewError("BAD_FILE", `"${file}" is a folder.`, "Name a file in this folder.");
  if (code === "EACCES")
    return new CrewError("BAD_FILE", `You have no permission to read "${file}".`, "Check the permissions of the file.");
  return new CrewError("BAD_FILE", `"${file}" cannot be read: ${message}.`, "Check the path.");
}

const titleOf = (file: string): string => (file === "-" ? "The standard input" : `"${file}"`);
const commandOf = (mode: Mode): string => (mode === "single" || mode === "plan" ? "run" : mode);
