import { readOnlyPaths } from "./known-commands.ts";
import { parseShell } from "./parse.ts";

/** True for a command line of which it is certain that it changes no file. */
export function onlyReads(line: string): boolean {
  const parsed = parseShell(line);
  if ("problem" in parsed || parsed.commands.length === 0) return false;
  return parsed.commands.every(({ words: [first, ...args], redirects }) => {
    if (first?.text === undefined || first.glob) return false;
    if (redirects.some(({ writes, target }) => writes && target.text !== "/dev/null")) return false;
    return readOnlyPaths(first.text, args) !== undefined;
  });
}
