/** The names after `@` in a message, in their order: `@src/a.ts`, or `@"a file.png"` where the name has blanks. */
export function mentionsIn(text: string): string[] {
  return Array.from(text.matchAll(MENTION), ([, quoted, bare]) => quoted ?? bare ?? "");
}

const MENTION = /(?<=^|[\s(["'])@(?:"([^"\n]+)"|([^\s"]+))/g;

/** Writes a name as a mention: after `@`, in quotes if it has blanks. */
export const mentionOf = (name: string): string => (/[\s"]/.test(name) ? `@"${name.replaceAll('"', "")}"` : `@${name}`);

/**
 * The index at which the mention (`@file`) at the end of a text begins, with its blanks when it is quoted; -1: there is
 * none.
 */
export function openMention(text: string): number {
  const quoted = /(?:^|[\s(["'])(@"[^"\n]*)$/.exec(text);
  return quoted ? quoted.index + quoted[0].length - quoted[1]!.length : -1;
}

/**
 * The path in a text that is nothing but a path, as terminals paste a file that is dropped into them: as it is, in
 * quotes, with backslashes, or as a `file:` address.
 */
export function pastedPath(text: string): string | undefined {
  const line = text.trim();
  if (line === "" || line.includes("\n")) return undefined;
  const [, , quoted] = /^(["'])(.+)\1$/.exec(line) ?? [];
  if (quoted !== undefined) return quoted;
  if (/^file:\/\//i.test(line)) return decoded(line.replace(/^file:\/\/(?:localhost)?/i, ""));
  if (!/^(?:~?\/|\.{1,2}\/|[A-Za-z]:[\\/])/.test(line)) return undefined;
  return /^[A-Za-z]:\\/.test(line) ? line : line.replace(/\\(.)/g, "$1");
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
