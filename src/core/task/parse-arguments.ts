import { keysAt } from "../schema/schema-place.ts";
import { isZodType } from "../schema/standard-schema.ts";
import { isRecord } from "../text/json.ts";
import { foldName } from "../vocabulary/tool-names.ts";
import { type ArgumentAlias, changesSomething, type Tool } from "./tool.ts";
import { excessProblem } from "./tool-specs.ts";

/** The arguments with which a tool is called, and notes for its result on arguments that were not read as written. */
export type ParsedArguments = Readonly<{ value: unknown; notes: readonly string[] }>;

/**
 * The parsed arguments of a tool call, or the problem with them. Names of other agent programs (`file_path`,
 * `old_string`) are understood. An unknown argument is ignored and noted by a tool that only reads. A tool that changes
 * something refuses it, because what it asks for would not happen.
 */
export function parseArguments(tool: Tool, given: unknown): ParsedArguments | Readonly<{ problem: string }> {
  const excess = excessProblem(given);
  if (excess !== undefined) return { problem: excess };
  const { input } = tool;
  if (!isZodType(input)) return { value: given, notes: [] };
  const names = keysAt(input, []);
  if (given !== undefined && given !== null && !isRecord(given)) return { problem: "they are not an object" };
  const { value, notes } = renamed(given ?? {}, names, tool.aliases);
  const first = input.safeParse(value);
  const unknown = (first.error?.issues ?? []).flatMap((issue) =>
    issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : [],
  );
  const changes = changesSomething(tool);
  const refused = unknown.filter((key) => changes && !REMARKS.has(foldName(key)));
  const parsed = unknown.length === 0 ? first : input.safeParse(without(value, unknown));
  const named = unknownText(changes ? refused : unknown, names);
  if (parsed.success && refused.length === 0)
    return { value: parsed.data, notes: named === "" ? notes : [...notes, `ignored: ${named}`] };
  const problems = (parsed.error?.issues ?? [])
    .slice(0, 5)
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
  return { problem: [named, ...problems].filter((text) => text !== "").join("; ") };
}

/** Arguments in which models say why they make a call. They ask for nothing, so every tool ignores them. */
const REMARKS: ReadonlySet<string> = new Set(["description", "explanation", "reason"]);

/** The arguments under their own names. Of two that mean the same, the one with the own name counts. */
function renamed(
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
  aliases: Tool["aliases"] = {},
): { value: Readonly<Record<string, unknown>>; notes: readonly string[] } {
  const meaning = new Map<string, ArgumentAlias>(
    [...names.map((name) => [name, name] as const), ...Object.entries(aliases)].map(([key, alias]) => [
      foldName(key),
      alias,
    ]),
  );
  const value = new Map<string, unknown>();
  const notes: string[] = [];
  const isOwn = ([key]: readonly [string, unknown]): boolean => names.includes(key);
  const entries = Object.entries(given);
  for (const [key, said] of [...entries.filter(isOwn), ...entries.filter((entry) => !isOwn(entry))]) {
    const alias = meaning.get(foldName(key)) ?? key;
    const meant = typeof alias === "string" ? { [alias]: said } : alias(said, given);
    if (Object.entries(meant).some(([name, one]) => value.has(name) && value.get(name) !== one)) {
      value.set(key, said); // a second value for the same argument is not an argument of the tool
      continue;
    }
    for (const [name, one] of Object.entries(meant)) value.set(name, one);
    if (typeof alias !== "string" && typeof said !== "object" && meant[key] !== said)
      notes.push(
        `${key}: ${JSON.stringify(said)} was read as ${Object.entries(meant)
          .map(([name, one]) => `${name}: ${JSON.stringify(one)}`)
          .join(", ")}`,
      );
  }
  return { value: Object.fromEntries(value), notes };
}

const without = (value: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));

function unknownText(unknown: readonly string[], names: readonly string[]): string {
  if (unknown.length === 0) return "";
  const list = unknown.slice(0, 5).map((key) => JSON.stringify(key.slice(0, 60)));
  return `unknown argument${unknown.length === 1 ? "" : "s"} ${list.join(", ")} (the arguments are ${names.join(", ")})`;
}
