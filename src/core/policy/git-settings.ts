import { words } from "../text/words.ts";

/** One setting of a git configuration file; section and name are in lower case, as in `core.hookspath`. */
export type GitSetting = Readonly<{ key: string; value: string }>;

/** Reads a git configuration file. Lines that git refuses are skipped; the settings after them are read as well. */
export function gitSettings(text: string): GitSetting[] {
  const found: GitSetting[] = [];
  const source = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  let section = "";
  for (let at = 0; at < source.length; ) {
    const [whole, title, sub, name, value] = matchAt(ENTRY, source, at) ?? [];
    at += Math.max(whole?.length ?? 0, 1);
    if (title !== undefined) section = sectionOf(title, sub);
    if (name !== undefined) found.push({ key: `${section}.${name.toLowerCase()}`, value: unquoted(value ?? "") });
  }
  return found;
}

/**
 * Matches one entry of the file: blanks, a comment, a section header, a setting, or other text up to the next entry.
 * Each alternative begins with another character, so matching takes linear time.
 */
const ENTRY =
  /\s+|[#;][^\n]*|\[\s*([^\s\]"]+)\s*(?:"((?:[^"\\\n]|\\.)*)")?\s*\]|([a-z][a-z0-9-]*)[ \t]*(?:=((?:"(?:[^"\\\n]|\\[^])*"|\\[^]|[^"\\\n#;])*))?[^\n]*|[^\n]/iy;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function sectionOf(title: string, sub: string | undefined): string {
  const name = title.toLowerCase();
  return sub === undefined ? name : `${name}.${sub.replace(/\\([^])/g, "$1")}`;
}

const unquoted = (value: string): string =>
  value
    .replace(/\\([^])|"/g, (_, escaped?: string) => (escaped === undefined ? "" : (ESCAPES[escaped] ?? escaped)))
    .trim();

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "", "\n": "" };

/** A path in a git setting, before it is resolved. */
export type NamedPath = Readonly<{
  text: string;
  /** True: the path is relative to the folder of the configuration file, else to the top of the work tree. */
  beside?: true;
  /** True: git reads this file as more configuration. */
  included?: true;
  /**
   * True: the setting means the folder at this path with everything in it; false: an existing folder at this path is
   * ignored.
   */
  folder?: true;
  /**
   * True: the text counts as a program only if a file of that path exists; otherwise it is a program on PATH or no
   * program.
   */
  ifExists?: true;
}>;

/**
 * The paths in a setting that git executes, or reads as configuration or as a list of trusted keys. Files with other
 * data, such as ignore patterns, are left out: such data is source, as in `.gitignore` and `.gitattributes`.
 */
export function pathsNamedBy({ key, value }: GitSetting): NamedPath[] {
  if (INCLUDE.test(key)) return [{ text: value, beside: true, included: true }];
  if (FOLDER.test(key)) return [{ text: value, folder: true }];
  if (DATA.test(key) || (key.startsWith("alias.") && !value.startsWith("!"))) return [];
  const whole: NamedPath[] = FILE.test(key) ? [{ text: value }] : [];
  return [...whole, ...wordsIn(withoutExpansions(value), 0).flatMap(pathsInWord)];
}

const INCLUDE = /^include(?:if\..*)?\.path$/s;
/** Matches settings whose value is a folder with programs that git starts, or with certificates that it trusts. */
const FOLDER = /^(?:core\.hookspath|init\.templatedir|http\.(?:.*\.)?sslcapath)$/s;
/** Settings whose value is one path. */
const FILE = /(?:file|path|cainfo|sslcert|sslkey)$/s;
const DATA = new RegExp(
  [
    "^(?:branch|user|author|committer|url|safe|maintenance|gui|color|advice|column|i18n|extensions|gc|push|pull)\\.",
    "^remote\\..*\\.(?:url|pushurl|fetch|push|mirror|tagopt)$",
    "^submodule\\..*\\.(?:url|branch|path|active)$",
    "^(?:core\\.(?:excludesfile|attributesfile|worktree)|commit\\.template|mailmap\\.(?:file|blob))$",
    "^(?:blame\\.ignorerevsfile|diff\\.orderfile|(?:fetch\\.|receive\\.)?fsck\\.skiplist|http\\.(?:.*\\.)?cookiefile)$",
  ].join("|"),
  "s",
);

/**
 * Replaces the parts of a command line that the shell expands. Programs of a setting start at the top of the work tree.
 */
function withoutExpansions(value: string): string {
  return value.replace(/\$\([^()]*\)|`[^`]*`|\$\{[^}]*\}|\$\w+/g, (text) =>
    /git.dir|git-common-dir/i.test(text) ? ".git" : /HOME\}?$/.test(text) ? "~" : ".",
  );
}

/** The words of a command line with their position; a quoted word may be a command line of its own. */
function wordsIn(line: string, depth: number): { text: string; first: boolean }[] {
  const raw = line.match(/(?:"(?:[^"\\]|\\[^])*"|'[^']*'|\\[^]|[^\s"'\\;|&()<>=!])+/g) ?? [];
  return raw.flatMap((word, at) => {
    const text = word.replace(/"((?:[^"\\]|\\[^])*)"|'([^']*)'|\\([^])/g, "$1$2$3");
    const inner = depth < 3 && /[\s;|&()<>=!]/.test(text) ? wordsIn(text, depth + 1) : [];
    return [{ text, first: at === 0 }, ...inner];
  });
}

function pathsInWord({ text, first }: { text: string; first: boolean }): NamedPath[] {
  const attached = /^-[a-zA-Z](.*\/.*)$/s.exec(text)?.[1];
  if (attached !== undefined) return [{ text: attached }];
  if (text.includes("/")) return [{ text }];
  // The shell looks for the first word on PATH; later words are the scripts of an interpreter, or anything else.
  return first || text === "" || text.startsWith("-") ? [] : [{ text, ...(!SCRIPT.test(text) && { ifExists: true }) }];
}

const SCRIPT = /\.(?:[a-z]{1,4}|conf|config)$/i;

/**
 * The names of all hooks that git starts. In a hooks folder that also contains source files, only files with these
 * names are protected.
 */
export const GIT_HOOKS: readonly string[] = words(`
  applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase
  post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction
  push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman p4-changelist p4-prepare-changelist
  p4-post-changelist p4-pre-submit post-index-change
`);
