import { matchesPath, type PathPattern, parsePattern } from "../../core/rules/glob.ts";

/** The rules of one `.gitignore`, its folder, and the rules of its parent folders. */
export type Ignore = Readonly<{
  /** The folder: an absolute path with forward slashes, without a slash at its end. */
  folder: string;
  rules: readonly Rule[];
  above?: Ignore | undefined;
}>;

type Rule = Readonly<{ keeps: boolean; foldersOnly: boolean; byName: boolean; pattern: PathPattern }>;

/** Parses a `.gitignore` as git does. */
export function parseIgnore(text: string): Rule[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .flatMap(ruleOf);
}

/**
 * True when git would ignore this path. The last matching rule decides, and a nearer file takes precedence. Only the
 * path itself is checked; a caller that walks the tree must skip everything below an ignored folder.
 */
export function isIgnored(ignore: Ignore | undefined, path: string, isFolder: boolean): boolean {
  for (let at = ignore; at !== undefined; at = at.above) {
    const names = path.slice(at.folder.length + 1).split("/");
    const name = names.slice(-1);
    for (let n = at.rules.length - 1; n >= 0; n--) {
      const rule = at.rules[n];
      if (rule === undefined || (rule.foldersOnly && !isFolder)) continue;
      if (matchesPath(rule.pattern, rule.byName ? name : names)) return !rule.keeps;
    }
  }
  return false;
}

function ruleOf(line: string): Rule[] {
  const trimmed = trimEnd(line);
  if (trimmed === "" || trimmed.startsWith("#")) return [];
  const keeps = trimmed.startsWith("!");
  const text = keeps ? trimmed.slice(1) : trimmed;
  const foldersOnly = text.endsWith("/");
  const body = foldersOnly ? text.slice(0, -1) : text;
  if (body === "" || body === "/") return [];
  return [{ keeps, foldersOnly, byName: !body.includes("/"), pattern: parsePattern(body.replace(/^\//, "")) }];
}

/** Removes trailing spaces, except one after a backslash. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line.charAt(end - 1) === " ") end--;
  const slashes = /\\*$/.exec(line.slice(0, end))?.[0].length ?? 0;
  return line.slice(0, slashes % 2 === 1 && end < line.length ? end + 1 : end);
}
