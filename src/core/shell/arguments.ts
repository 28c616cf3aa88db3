import { words } from "../text/words.ts";
import { readAsCommands } from "./code.ts";
import { effectsOf } from "./known-commands.ts";
import type { ShellCommand, ShellWord } from "./parse.ts";

/**
 * The texts among the arguments of a command that may be command lines, as in `nodemon --exec 'rm a'`: words with
 * blanks, and values after "=". Of a command in the table of known ones only options count that are not known to be
 * read-only.
 */
export function commandsInArguments(program: string, args: readonly ShellWord[]): readonly ShellCommand[] {
  if (RUNS_NOTHING.has(program)) return [];
  const effects = effectsOf(program, args);
  const known = effects === undefined ? undefined : new Set(effects.flatMap((at) => [at, at + 1]));
  const texts = args.flatMap(({ text }, at) =>
    text === undefined || known?.has(at) === false || isProse(program, args[at - 1]?.text, text) ? [] : linesIn(text),
  );
  return texts.flatMap(readAsCommands);
}

/** Programs that run nothing by themselves, whatever their arguments are, or whose scripts are analysed elsewhere. */
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
  const found = [
    ...(/\s/.test(text) ? [text] : []),
    ...(isLine ? [value] : []),
    ...(attached === undefined ? [] : [attached]),
  ];
  const unquoted = found.flatMap((each) => /^(["'])([^]*)\1$/.exec(each)?.[2] ?? each);
  return depth < 3 && value?.includes("=") ? [...unquoted, ...linesIn(value, depth + 1)] : unquoted;
}

/**
 * The index of the first argument of a command outside the table of known ones that may begin a command which it runs,
 * as in `docker exec box rm a` and `tool -- rm a`; `undefined`: there is none. Which of the words after it is the
 * program is not known: every one may be.
 */
export function mayRunFrom(program: string, args: readonly ShellWord[]): number | undefined {
  if (RUNS_NOTHING.has(program) || effectsOf(program, args) !== undefined) return undefined;
  if (RUNS_ARGUMENTS.has(program)) return 0;
  const runs = PROJECT_RUNNERS.has(program) ? RUNNING_OPTION : RUNNING;
  const at = args.findIndex(({ text }) => text !== undefined && runs.test(text));
  return at < 0 ? undefined : at + 1;
}

const RUNS_ARGUMENTS: ReadonlySet<string> = new Set(
  words("tmux screen zellij socat nc ncat netcat pee gpg-agent mosh"),
);

/** Programs whose subcommand `run` starts a program or script of the project, which is no command. */
const PROJECT_RUNNERS: ReadonlySet<string> = new Set(
  words("npm pnpm yarn bun deno cargo go dotnet swift zig gradle mvn just task make poetry pdm hatch rye uv pipenv"),
);

const RUNNING_OPTION = /^(?:--|-[cCeExX]|--(?:exec(?:-batch)?|command|cmd|call|entrypoint|runner|run)|exec|explore)$/;
const RUNNING = new RegExp(`${RUNNING_OPTION.source}|^(?:run|shell|ssh|rsh|develop|debug|spawn|foreach|console)$`);
