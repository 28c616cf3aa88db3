import { readOnlyPaths } from "./known-commands.ts";
import { parseShell } from "./parse.ts";
import { unwrap } from "./wrappers.ts";

/** True for a command line of which it is certain that it changes no file. */
export function onlyReads(line: string): boolean {
  const parsed = parseShell(line);
  if ("problem" in parsed || parsed.commands.length === 0) return false;
  return parsed.commands.every((command) => {
    const [first, ...args] = command.words;
    if (first?.text === undefined || unwrap(command) !== undefined) return false;
    if (command.redirects.some(({ writes, target }) => writes && target.text !== "/dev/null")) return false;
    return readOnlyPaths(first.text, args) !== undefined;
  });
}
