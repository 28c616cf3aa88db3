import { words } from "../text/words.ts";
import { subcommandAt } from "./known-commands.ts";
import type { ShellWord } from "./parse.ts";
import { sedReads } from "./scripts.ts";

/**
 * The command lines that options, scripts and subcommands of known programs run: `tar --to-command=rm`, `git -c
 * alias.x=!rm`, `awk 'system("rm")'`. `undefined`: none. With a `problem`: the program runs something that is not on
 * the command line.
 */
export function runByOptions(program: string, args: readonly ShellWord[]): InnerLines | undefined {
  if (/^[gmn]?awk$/.test(program)) return inAwk(args);
  if (program === "sed") return inSed(args);
  if (program === "git") return inGit(args);
  if (/^(?:sqlite3?|psql|mysql|mariadb)$/.test(program)) return inQueries(args);
  // In the first word of tar, letters need no dash, and their values follow in other words.
  if (program === "tar" && /^[^-]*[IF]/.test(args[0]?.text ?? "I"))
    return { lines: [], problem: 'the command that "tar" runs cannot be read from its arguments' };
  const options = Object.hasOwn(running, program) ? running[program]! : undefined;
  return options && inOptions(options, program, args);
}

/** Command lines that a program runs, or why they cannot be determined. */
export type InnerLines = Readonly<{ lines: readonly string[]; problem?: string }>;

/**
 * Options whose value is a command line, by program. The value of an option letter may follow directly or in the next
 * word.
 */
const running: Readonly<Record<string, readonly string[]>> = {
  tar: [
    "--to-command",
    "--use-compress-program",
    "-I",
    "--checkpoint-action",
    "--rsh-command",
    "--info-script",
    "--new-volume-script",
    "-F",
  ],
  rsync: ["-e", "--rsh", "--rsync-path"],
  scp: ["-S", "-o", "-D"],
  sftp: ["-S", "-o", "-D"],
  ssh: ["-o", "-F"],
  sort: ["--compress-program"],
  split: ["--filter"],
  rg: ["--pre", "--hostname-bin"],
  zip: ["-TT", "--unzip-command"],
  man: ["-P", "--pager", "-H", "--html"],
  bat: ["--pager"],
  batcat: ["--pager"],
  delta: ["--pager"],
  ag: ["--pager"],
  ack: ["--pager"],
  ...Object.fromEntries(
    words("gcc g++ cc c++ gfortran").map((name): [string, readonly string[]] => [name, ["-wrapper"]]),
  ),
  go: ["-exec", "-toolexec", "-vettool"],
  ...Object.fromEntries(
    words("vi vim vimdiff view ex gvim gview gvimdiff rvim rview nvim").map((name): [string, readonly string[]] => [
      name,
      ["-c", "--cmd", "-S", "-s", "-u", "-U", "+"],
    ]),
  ),
  make: ["--eval", "-E"],
  gmake: ["--eval", "-E"],
  less: ["+"],
  more: ["+"],
  nano: ["-s", "--speller"],
  tcpdump: ["-z"],
  fzf: ["--preview", "--bind"],
  wget: ["--use-askpass", "-e", "--execute"],
};

/**
 * Matches an argument that only tells a pager or an editor where to begin: a line (`+12`), a pattern (`+/text`) or the
 * end.
 */
const HARMLESS_PLUS = /^\+(?:\d+|\/[^]*|[gGF])?$/;

function inOptions(options: readonly string[], program: string, args: readonly ShellWord[]): InnerLines | undefined {
  const lines: string[] = [];
  for (const [at, { text }] of args.entries()) {
    if (text === undefined || HARMLESS_PLUS.test(text)) continue;
    const option = options.find(
      (each) => text === each || text.startsWith(each.startsWith("--") || /^-\w{2}/.test(each) ? `${each}=` : each),
    );
    // Matches option letters in a bundle, as in `-avze ssh`.
    const bundled =
      option === undefined &&
      /^-[A-Za-z]{2,}$/.test(text) &&
      options.some((each) => each.length === 2 && text.endsWith(each.charAt(1)));
    const started =
      option === undefined && !bundled
        ? options.find((each) => each.startsWith("--") && text.length > 4 && each.startsWith(text.split("=")[0]!))
        : option;
    if (started === undefined && !bundled) continue;
    const joinedValue = bundled
      ? undefined
      : text.includes("=") && text.startsWith("-") && started!.length > 2
        ? text.slice(text.indexOf("=") + 1)
        : text.length > started!.length && started!.length <= 2
          ? text.slice(started!.length)
          : undefined;
    const value = joinedValue ?? args[at + 1]?.text;
    if (value === undefined) return { lines, problem: `the command that "${program}" runs is only known at run time` };
    if (
      /^(?:vim?|vimdiff|r?view|ex|g(?:vim|view|vimdiff)|rvim|nvim|ssh|scp|sftp|make|gmake|wget|less|more)$/.test(
        program,
      )
    )
      return { lines, problem: `an option of "${program}" can run any command` };
    lines.push(started === "-wrapper" ? value.replaceAll(",", " ") : value.replace(/^exec=/, ""));
  }
  return lines.length === 0 ? undefined : { lines };
}

function inAwk(args: readonly ShellWord[]): InnerLines | undefined {
  const runs = /system|\||getline|@load|@include|extension/;
  for (const { text } of args) {
    if (text === undefined) return { lines: [], problem: "the awk program is only known at run time" };
    if (/^(?:-[fiElD]|--(?:file|include|exec|load|debug))/.test(text))
      return { lines: [], problem: "awk runs a script that is not on the command line" };
    const code = text.replace(/\|\|/g, "");
    const plain = /^[^]*?\bsystem\s*\(\s*"((?:[^"\\]|\\.)*)"\s*\)[^]*$/.exec(code)?.[1];
    if (plain !== undefined && code.match(/system|\||getline/g)?.length === 1)
      return { lines: [plain.replace(/\\(.)/g, "$1")] };
    if (runs.test(code)) return { lines: [], problem: "the awk program runs a command" };
  }
  return undefined;
}

/**
 * The shell commands that clients of databases run: `.shell` of sqlite3, `\\!` of psql, `system` of mysql, and pipes.
 */
function inQueries(args: readonly ShellWord[]): InnerLines | undefined {
  const lines = args.flatMap(({ text = "" }) =>
    Array.from(
      text.matchAll(/(?:(?:^|\n|=)\s*(?:\.(?:she?l?l?|syst?e?m?)|system|\.\w+\s+["']?\|)|\\!)\s*([^\n]+)/gi),
      ([, line = ""]) => line.replace(/["'][^"']*$/, ""),
    ),
  );
  return lines.length === 0 ? undefined : { lines };
}

/** The shell commands in a sed script: substitutions with the flag `e`, and the command `e`. */
function inSed(args: readonly ShellWord[]): InnerLines | undefined {
  const scripts = args.flatMap(({ text }, at) =>
    text === undefined
      ? [undefined]
      : text.startsWith("-") && !/^-\w*e|^--expression/.test(text)
        ? []
        : at >= 0
          ? [text]
          : [],
  );
  if (scripts.some((text) => text === undefined))
    return { lines: [], problem: "the sed script is only known at run time" };
  if (args.some(({ text = "" }) => /^(?:-\w*f|--file)/.test(text) && !/^-\w*e/.test(text)))
    return { lines: [], problem: "sed runs a script that is not on the command line" };
  const runs =
    /(?:^|[;{}\n]|\d|\$|\/[IM]*)\s*!?\s*e|(?:^|[^\w\\])s([^\w\s\\]).*?\1.*?\1[gpiIMm\d]*e|(?:^|[;{}\n\d$/])\s*!?\s*s(\w).*?\2.*?\2[gpiIMm\d]*e(?:\s|$|;)/s;
  const open = scripts.map((text) => text!.replace(/^(?:-\w*e|--expression=)/, "")).filter((text) => !sedReads(text));
  if (open.some((text) => text.length > LONGEST_SEARCH))
    return { lines: [], problem: "the sed script is too long to be analysed" };
  return open.some((text) => runs.test(text)) ? { lines: [], problem: "the sed script runs a command" } : undefined;
}

/** The longest sed script that is searched for commands: the time of the search grows with the cube of the length. */
const LONGEST_SEARCH = 500;

/** Long options of git that run a command. git also accepts abbreviations of them. */
const GIT_RUNNING = ["--exec", "--extcmd", "--upload-pack", "--receive-pack", "--open-files-in-pager"];

/** The short forms of the options in `GIT_RUNNING`, by subcommand. */
const GIT_LETTERS: Readonly<Record<string, string>> = {
  rebase: "x",
  difftool: "x",
  clone: "u",
  "ls-remote": "u",
  grep: "O",
};

/** Whether a word is an option with which git runs a command, and the command if it is in the same word. */
function runningOption(subcommand: string, text: string): { value?: string } | undefined {
  if (text.startsWith("--")) {
    const [name = "", ...rest] = text.split("=");
    if (name.length < 3 || !GIT_RUNNING.some((each) => each.startsWith(name))) return undefined;
    return rest.length > 0 ? { value: rest.join("=") } : {};
  }
  const letter = Object.hasOwn(GIT_LETTERS, subcommand) ? GIT_LETTERS[subcommand] : undefined;
  const at = letter !== undefined && /^-[A-Za-z]/.test(text) ? text.indexOf(letter) : -1;
  if (at < 0) return undefined;
  return at < text.length - 1 ? { value: text.slice(at + 1) } : {};
}

/** Settings that cannot make git run a program. A driver may have any name, as in `diff.context.command`. */
const HARMLESS_KEYS = new RegExp(
  "^(?:(?:color|column|advice|user|author|committer|log|status|tag|pretty|i18n|versionsort|rerere)\\..*|" +
    "branch\\.(?!.*\\.mergeoptions$).*|push\\.default|pull\\.(?:rebase|ff)|" +
    "core\\.(?:quotepath|abbrev|autocrlf|eol|filemode|ignorecase)|init\\.defaultbranch|commit\\.gpgsign|safe\\.directory|" +
    "diff\\.(?:renames|color\\w*|context|algorithm|noprefix|mnemonicprefix)|merge\\.conflictstyle)$",
  "is",
);

/** Adds the commands that git runs because of a setting to the lines, or returns why they cannot be determined. */
function addSetting(lines: string[], setting: string | undefined): string | undefined {
  if (setting === undefined) return "a git setting is only known at run time";
  const [key = ""] = setting.split("=");
  const value = setting.slice(setting.indexOf("=") + 1);
  if (/^alias\./i.test(key)) lines.push(value.startsWith("!") ? value.slice(1) : `git ${value}`);
  else if (!HARMLESS_KEYS.test(key)) return `the setting ${key} can make git run any command`;
  return undefined;
}

/** The programs that settings and subcommands of git run. */
function inGit(args: readonly ShellWord[]): InnerLines | undefined {
  const lines: string[] = [];
  const at = subcommandAt(args);
  for (let place = 0; place < at; place++) {
    const text = args[place]?.text ?? "";
    if (/^--(?:config-env|exec-path)/.test(text)) return { lines, problem: `"${text}" can make git run any command` };
    if (text !== "-c") continue;
    const problem = addSetting(lines, args[place + 1]?.text);
    if (problem !== undefined) return { lines, problem };
  }
  const [name = "", ...rest] = args.slice(at).map(({ text }) => text);
  const texts = rest.map((text) => text ?? "\0");
  for (const [index, text] of name === "clone" ? texts.entries() : []) {
    const [option, joinedValue] = /^(-\w*c|--conf\w*)(?:=?([^]+))?$/.exec(text)?.slice(1) ?? [];
    const problem = option === undefined ? undefined : addSetting(lines, joinedValue ?? args[at + 1 + index + 1]?.text);
    if (problem !== undefined) return { lines, problem };
  }
  if ((name === "bisect" && texts[0] === "run") || (name === "submodule" && texts.includes("foreach"))) {
    const words = texts
      .slice(texts.indexOf(name === "bisect" ? "run" : "foreach") + 1)
      .filter((word, n) => n > 0 || word !== "--recursive");
    return words.includes("\0") || words.length === 0
      ? { lines, problem: `the command that "git ${name}" runs is only known at run time` }
      : { lines: [...lines, words.join(" ")] };
  }
  for (const [index, text] of texts.entries()) {
    const option = runningOption(name, text);
    if (option === undefined) continue;
    const value = option.value ?? texts[index + 1];
    if (value === undefined || value === "\0")
      return { lines, problem: `the command that "git ${name}" runs is only known at run time` };
    lines.push(value);
  }
  if (/^(?:filter-branch|config|difftool|mergetool|send-email|instaweb|daemon|gui|citool|p4|svn)$/.test(name)) {
    const reads = name === "config" && texts.some((text) => /^(?:--get\S*|-l|--list|get|list)$/.test(text));
    if (!reads) return { lines, problem: `"git ${name}" can run any command` };
  }
  if (texts.some((text) => /(?:^|=)ext::/.test(text))) return { lines, problem: "a git URL runs a command" };
  return lines.length > 0 ? { lines } : undefined;
}
