/**
 * The globs that are equivalent to a regular expression on paths, for common simple expressions: `\.md$`,
 * `\.(ts|tsx)$`, `^docs/.*\.md$`, `^src/`. `undefined` for any other expression, since a guess could allow more files.
 */
export function globsOf(regex: string): readonly string[] | undefined {
  const globs = alternativesOf(regex).map(globOf);
  return globs.length > 0 && globs.every((glob) => glob !== undefined) ? globs.flat() : undefined;
}

/** Splits at bars outside of parentheses; a pair of parentheses around everything is ignored. */
function alternativesOf(regex: string): string[] {
  const [, inner, end = ""] = /^\((?:\?:)?((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*)\)(\$?)$/.exec(regex) ?? [];
  const whole = inner ?? regex;
  const parts = whole.match(/(?:[^|()\\]|\\.|\([^()]*\))+/g) ?? [];
  return parts.join("|") === whole ? parts.map((part) => (part.endsWith("$") ? part : part + end)) : [whole];
}

const DOT_NAME = String.raw`\\\.(?:(?<name>[\w-]+)|\((?:\?:)?(?<names>[\w-]+(?:\|[\w-]+)*)\))\$`;
const ENDING = new RegExp(`^(?:\\^?\\.\\*)?${DOT_NAME}$`);
const FOLDER = new RegExp(
  `^\\^(?<folder>(?:[\\w-]|\\\\\\.)+(?:/(?:[\\w-]|\\\\\\.)+)*)/(?:\\.\\*)?(?:${DOT_NAME}|\\$)?$`,
);

function globOf(regex: string): string[] | undefined {
  const plain = regex.replaceAll("\\/", "/");
  const { folder, name, names } = (ENDING.exec(plain) ?? FOLDER.exec(plain))?.groups ?? {};
  const endings = name === undefined ? names?.split("|") : [name];
  if (endings === undefined) return folder === undefined ? undefined : [`${plainText(folder)}/**`];
  return endings.map((ending) => (folder === undefined ? `*.${ending}` : `${plainText(folder)}/**/*.${ending}`));
}

const plainText = (text: string): string => text.replaceAll("\\.", ".");
