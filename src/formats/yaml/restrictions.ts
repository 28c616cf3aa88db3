import { foldName, toolsNamed } from "../../core/vocabulary/tool-names.ts";
import { restrictedBy, vagueKeys } from "./restricting-keys.ts";

/** Restrictions that the lines of a frontmatter show, whatever keys they belong to. */
type Restrictions = Readonly<{
  /** Entries of deny-lists. */
  denied: readonly string[];
  /** Tools that a map such as `permission: { bash: deny }` denies. */
  answers: readonly string[];
  /** Keys that make the agent read-only. */
  modes: readonly string[];
  /** Names of tools on lines without a key that belong to no deny-list: a list of allowed tools may have had them. */
  listed: readonly string[];
}>;

/** The list that a line may belong to. */
type Place = "allowed" | "denied" | "answers" | "other";

/**
 * Collects what single lines of a broken frontmatter forbid. Its structure is not certain, so every doubt restricts: if
 * the file denies anything, each line of tool names outside an allow-list counts as denied.
 */
export function restrictionsIn(yaml: string): Restrictions {
  const found = { denied: [] as string[], answers: [] as string[], modes: [] as string[], listed: [] as string[] };
  const lines = yaml.split(/\r\n?|\n/).map((line) => line.replace(/\s#.*$/, ""));
  const denies = lines.some((line) => placeOf(keyIn(line)) === "denied" || DENIES.test(line));
  let place: Place = "other";
  for (const line of lines) {
    const key = keyIn(line);
    if (key !== undefined && isMode(key)) found.modes.push(key.name);
    const next = placeOf(key);
    if (next !== undefined) place = next;
    if (key === undefined && place !== "denied" && isOfTools(line)) found.listed.push(...entriesIn(line));
    if (!denies || next === "other") continue;
    const listed = key === undefined || next === undefined ? line : key.value;
    if (place === "denied") found.denied.push(...entriesIn(listed).filter(isTool));
    else
      for (const part of listed.split(",")) {
        if (!isOfTools(part)) continue;
        if (isRefused(part)) found.answers.push(...entriesIn(part));
        else if (place !== "allowed") found.denied.push(...entriesIn(part));
      }
  }
  return found;
}

/** Matches a line that denies something in a map. */
const DENIES = /permission|[:：]\s*["']?(?:den|never|false|off|no\b)/i;

type Key = Readonly<{ name: string; value: string; isTop: boolean }>;

/** The key of a line such as `  "key": value`, at any depth. */
function keyIn(line: string): Key | undefined {
  const found = /^([\s\u200b]*(?:[-?]\s+)?[{,]?\s*)["']?([\w.-]+)["']?\s*[:：=](.*)$/.exec(line);
  if (found === null) return undefined;
  const [, indent = "", name = "", value = ""] = found;
  return { name, value, isTop: indent === "" };
}

const PLACES: Readonly<Record<string, Place>> = {
  tools: "allowed",
  disallowedTools: "denied",
  permission: "answers",
  ...Object.fromEntries(vagueKeys.disallowedTools.map((key) => [key, "denied"])),
};

/** The list that begins with a key; `undefined` if the key belongs to the list before it. */
function placeOf(key: Key | undefined): Place | undefined {
  if (key === undefined) return undefined;
  const place = PLACES[restrictedBy(key.name) ?? foldName(key.name)];
  return place ?? (key.isTop && toolsNamed(key.name).length === 0 ? "other" : undefined);
}

/** True for a line that makes the agent read-only. */
function isMode({ name, value }: Key): boolean {
  const word = /^[\s"']*([\w-]+)/.exec(value)?.[1];
  if (word === undefined) return false;
  const meant = restrictedBy(name);
  if (meant === "readonly") return !/^(?:false|no|off|n)$/i.test(word);
  return (meant === "permissionMode" || meant === "permission") && foldName(word) === "plan";
}

/** The entries of a line of a list: without brackets, quotes, the dash before them and the decision after them. */
const entriesIn = (line: string): string[] =>
  bare(line)
    .split(/[,;|]\s*(?![^(]*\))/)
    .map((entry) => bare(entry.replace(ANSWER, "")))
    .filter((entry) => entry !== "");

const bare = (text: string): string => text.replace(/^[\s\u200b"'`[\]{}!>|-]+|[\s"'`[\]{},]+$/g, "");

const ANSWER = /["']?\s*[:：]\s*["']?(true|false|allow\w*|ask|deny|denied|never|yes|no|on|off)["']?[\s}\],]*$/i;

/** True for a line such as `bash: deny`. */
const isRefused = (line: string): boolean => /^(?:den|never|false|no|off)/i.test(ANSWER.exec(line)?.[1] ?? "");

const isTool = (entry: string): boolean =>
  entry.includes("__") || entry.split(/[^\w.*:@-]+/).some((word) => word === "*" || toolsNamed(word).length > 0);

/** False for a line that contains more than names of tools, and for a tool that is allowed in a map. */
function isOfTools(line: string): boolean {
  if (/^(?:allow|ask)/i.test(ANSWER.exec(line)?.[1] ?? "")) return false;
  const words = entriesIn(line).flatMap((entry) => (entry.includes("(") ? [entry] : entry.split(/\s+/)));
  return words.every((word) => word.includes("__") || toolsNamed(word.replace(/\(.*/s, "")).length > 0);
}
