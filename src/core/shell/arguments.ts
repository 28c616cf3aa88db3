import { words } from "../text/words.ts";
import { afterSigns, quotedIn, readAsCommands, withLineEnds } from "./code.ts";
import { effectsOf } from "./known-commands.ts";
import type { ShellCommand, ShellWord } from "./parse.ts";

/**
 * The texts among the arguments of a command that may be command lines, as in `nodemon --exec 'rm a'`: words with
 * blanks, and values after "=". If the command is in the table of known commands, options that are known to be
 * read-only are left out.
 */
export function commandsInArguments(program: string, args: readonly ShellWord[]): readonly ShellCommand[] {
  if (RUNS_NOTHING.has(program)) return [];
  const effects = effectsOf(program, args);
  const known = effects === undefined ? undefined : new Set(effects.flatMap((at) => [at, at + 1]));
  const texts = args.flatMap(({ text }, at) =>
    text === undefined || known?.has(at) === false || isProse(program, args[at - 1]?.text, text)
      ? []
      : [...linesIn(text), ...quotedIn(text), ...listAfter(args[at - 1]?.text ?? "", text)],
  );
  return [...[...new Set(texts)].flatMap(readAsCommands), ...(known === undefined ? programsIn(args) : [])];
}

/** The texts in a command's input that may be commands for it, if the program is not in the table of known programs. */
export function commandsInInput(
  program: string,
  args: readonly ShellWord[],
  input: readonly ShellWord[],
): readonly ShellCommand[] {
  if (input.length === 0 || RUNS_NOTHING.has(program) || effectsOf(program, args) !== undefined) return [];
  const given = input.flatMap(({ text = "" }) => withLineEnds(text));
  const texts = new Set(given.flatMap((text) => [text, ...quotedIn(text), ...afterSigns(text)]));
  return [...texts].flatMap(readAsCommands);
}

/** The arguments that are certainly programs, because they lie in a folder for programs: `tool /bin/rm a`. */
function programsIn(args: readonly ShellWord[]): ShellCommand[] {
  const at = args.findIndex(({ text = "" }) => /^(?:\/|\.).*\bs?bin\/[^/\s]+$/s.test(text));
  return at < 0 ? [] : [{ words: args.slice(at), sets: [], redirects: [] }];
}

/** Programs that run nothing by themselves with any arguments, or whose scripts are analysed elsewhere. */
const RUNS_NOTHING: ReadonlySet<string> = new Set(
  words("sed awk gawk mawk nawk find curl wget jq yq date printf echo test [ true false cd export declare typeset"),
);

/** Whether a text is meant for people: a message, a title, a search. Settings of git are analysed elsewhere. */
function isProse(program: string, before: string | undefined, text: string): boolean {
  if (program === "git" && before === "-c") return true;
  return PROSE.test(before ?? "") || (text.startsWith("-") && PROSE.test(text.split("=")[0]!));
}

const PROSE =
  /^(?:-m|-am|-k|--(?:message|title|body|description|notes|subject|comment|label|summary|query|search|grep|filter|format|template|jq|test-?name-?pattern|reason|author|name))$/i;

/** The command lines that a word may contain: the word itself, and the value of an option or setting in it. */
function linesIn(text: string, depth = 0): string[] {
  const value = /^(?:-{1,2}[\w.-]*|[\w.:-]+?)(?:=|::=|:(?!\/))([^]+)$/.exec(text)?.[1];
  const isLine = value !== undefined && (text.startsWith("--") || /[\s"']/.test(value));
  const attached = /^-\w([^]*\s[^]*)$/.exec(text)?.[1];
  const address = /(?:^|!!)(?:exec|system|shell):([^,]+)/i.exec(text)?.[1]; // as socat writes them
  const found = [
    ...(/\s/.test(text) ? [text] : []),
    ...(isLine ? [value] : []),
    ...(attached === undefined ? [] : [attached]),
    ...(address === undefined ? [] : [address]),
  ];
  const unquoted = found.flatMap((each) => /^(["'])([^]*)\1$/.exec(each)?.[2] ?? each);
  return depth < 3 && value?.includes("=") ? [...unquoted, ...linesIn(value, depth + 1)] : unquoted;
}

/**
 * The command line in a value that divides its words by "," or ";", if its option or setting names a program, as in
 * `gcc -wrapper rm,a` and `cmake -DCMAKE_C_COMPILER_LAUNCHER=rm;a`.
 */
function listAfter(before: string, text: string): string[] {
  const option = before.startsWith("-") ? before : "";
  const [, name = option, value = text] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
  return RUNNING_LIST.test(name) && !NOT_RUNNING.test(name) ? [value.replace(/[,;]/g, " ")] : [];
}

/**
 * The indexes of the arguments that may begin an inner command, for a command that is not in the table of known
 * commands, as in `docker exec box rm a`, `tool -- rm a` and `yarn run rm a`. Any of these words may be the program.
 */
export function mayRun(program: string, args: readonly ShellWord[]): readonly number[] {
  if (RUNS_NOTHING.has(program) || effectsOf(program, args) !== undefined) return [];
  const runs = PROJECT_RUNNERS.has(program) ? RUNNING_OPTION : RUNNING;
  const at = RUNS_ARGUMENTS.has(program)
    ? -1
    : args.findIndex(({ text }) => text !== undefined && runs.test(text) && !NOT_RUNNING.test(text));
  if (at < 0 && !RUNS_ARGUMENTS.has(program)) return scriptIn(program, args);
  return Array.from(args.keys()).slice(at + 1);
}

const RUNS_ARGUMENTS: ReadonlySet<string> = new Set(
  words("tmux screen zellij socat nc ncat netcat gpg-agent mosh mpirun mpiexec srun dtach abduco kcov kitty wsl"),
);

/** Programs whose subcommand `run` starts a program or script of the project. */
const PROJECT_RUNNERS: ReadonlySet<string> = new Set(
  words(
    "npm pnpm yarn yarnpkg bun deno cargo go dotnet swift zig gradle mvn just task make poetry pdm hatch rye uv pipenv",
  ),
);

/**
 * The words that may be the name of a script: the word after the subcommand `run`, or the first word without it. If
 * there is no script of this name, these package managers run a program.
 */
function scriptIn(program: string, args: readonly ShellWord[]): readonly number[] {
  const managing = Object.hasOwn(MANAGING, program) ? words(MANAGING[program]!) : undefined;
  if (managing === undefined) return [];
  const texts = args.map(({ text = "" }) => text);
  const run = texts.indexOf("run");
  const names = texts.flatMap((text, at) => (at > run && !text.startsWith("-") ? [at] : []));
  const scripts = texts[names[0] ?? 0] === "workspace" ? names.slice(2) : names;
  // The word after an option may be the value of the option; then a later word is the name of the script.
  const last = scripts.findIndex((at) => !texts[at - 1]?.startsWith("-"));
  return scripts.slice(0, last < 0 ? undefined : last + 1).filter((at) => run >= 0 || !managing.includes(texts[at]!));
}

/** Subcommands of package managers that have the same name as a program of the machine. */
const MANAGING: Readonly<Record<string, string>> = {
  pnpm: "add create env init install link list ln login ls node pack patch publish rm test unlink",
  yarn: "add create env init install link list login node pack patch publish test unlink",
  yarnpkg: "add create env init install link list login node pack patch publish test unlink",
  bun: "add build create init install link list publish rm test unlink",
};

/** Names of options and settings whose value is a program or a command line. */
const RUNNING_NAME =
  "(?:[\\w.-]*[-_.])?(?:exec(?:-batch)?|executable|command|cmd|call|entrypoint|runner|run|wrapper|launcher|hook|pager|editor|askpass|interpreter|shell|handler|program|compiler|linker)";
const RUNNING_OPTION = new RegExp(`^(?:--|-[cex]|--?${RUNNING_NAME}|exec|explore)$`, "i");
const RUNNING = new RegExp(`${RUNNING_OPTION.source}|^(?:run|shell|ssh|rsh|develop|debug|spawn|foreach|console)$`, "i");
const RUNNING_LIST = new RegExp(`^(?:-[A-Z]|--?)?${RUNNING_NAME}$`, "i");
const NOT_RUNNING = /^--?(?:no|dry|skip|without)-/i;
