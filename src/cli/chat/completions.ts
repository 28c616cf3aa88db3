import { readdirSync } from "node:fs";
import { join } from "node:path";
import { mentionOf } from "../../core/text/mention.ts";
import { sanitize } from "../../core/text/sanitize.ts";

type Known = Readonly<{ first: boolean; agents: readonly string[]; slashNames: readonly string[]; cwd: string }>;
const MOST_COMPLETIONS = 200;

/** Completions: commands at the beginning of a message, agents and files after `@`. */
export function completions(word: string, { first, agents, slashNames, cwd }: Known): string[] {
  if (word.startsWith("/") && first) return slashNames.filter((name) => name.startsWith(word));
  if (!word.startsWith("@")) return [];
  const typed = word.replace(/^@"?/, "");
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const names = agents.filter((name) => name.startsWith(typed)).map((name) => `@${name}`);
  return [
    ...names,
    ...filesIn(cwd, folder, typed.slice(folder.length))
      .filter((path) => path.startsWith(typed))
      .map(asMention),
  ].slice(0, MOST_COMPLETIONS);
}

/**
 * True for a file that is offered as a completion. Hidden files are offered only after a dot was typed, large
 * dependency folders only after their name was typed.
 */
const isOffered = (name: string, typed: string): boolean =>
  (!name.startsWith(".") || typed.startsWith(".")) && (name !== "node_modules" || typed !== "");

function filesIn(cwd: string, folder: string, typed: string): string[] {
  try {
    return readdirSync(join(cwd, folder), { withFileTypes: true })
      .filter(({ name }) => isOffered(name, typed))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
      .filter((path) => sanitize(path) === path && !/["\n]/.test(path))
      .toSorted();
  } catch {
    return [];
  }
}

/**
 * Writes a path as a mention. The mention of a folder with blanks in its name gets no closing quote, because the name
 * of a file in it follows.
 */
const asMention = (path: string): string => (path.endsWith("/") ? mentionOf(path).replace(/"$/, "") : mentionOf(path));
