import { words } from "../text/words.ts";
import { quotedIn, readAsCommands } from "./code.ts";
import { parseShell, type ShellCommand, type VariableSetting, type ShellWord, settingIn } from "./parse.ts";
import { programName } from "./program-name.ts";

/**
 * The commands in the variables that a command sets, as in `GIT_PAGER='rm a' git log`. Programs run what variables such
 * as PAGER contain, so these are inner commands. With a `problem`: such a variable gets a value that cannot be read.
 */
export function runByVariables(command: ShellCommand): CommandsInVariables {
  const settings = settingsOf(command);
  if ("problem" in settings) return { inner: [], perhaps: [], problem: settings.problem };
  const inner: ShellCommand[] = [];
  const perhaps: ShellCommand[] = [];
  for (const setting of settings) {
    const { name, value } = setting;
    if (value === "" || HARMLESS_FILES.has(value ?? "")) continue;
    const line = lineIn(setting, settings);
    if (line === undefined) perhaps.push(...[value ?? "", ...quotedIn(value ?? "")].flatMap(readAsCommands));
    else if (line === NOT_READABLE)
      return { inner, perhaps, problem: `programs run the file that the variable ${name} names` };
    else if (line !== "") {
      const parsed = parseShell(line);
      if ("problem" in parsed)
        return { inner, perhaps, problem: `the command in the variable ${name} cannot be read: ${parsed.problem}` };
      inner.push(...parsed.commands);
    }
  }
  return { inner, perhaps };
}

export type CommandsInVariables = Readonly<{
  /** Commands that a program runs. */
  inner: readonly ShellCommand[];
  /** Values of other variables, read as commands, because some program may run them. */
  perhaps: readonly ShellCommand[];
  problem?: string;
}>;

/** Values that make a variable for a configuration file harmless, because the file is empty. */
const HARMLESS_FILES = new Set(["/dev/null"]);

/** The assignments of a command: before it, and as arguments of `export` and its relatives. */
function settingsOf({ words: given, sets }: ShellCommand): readonly VariableSetting[] | { problem: string } {
  const [first, ...args] = given;
  const program = first?.text === undefined ? "" : programName(first.text);
  if (program === "read" || program === "printf") {
    const named = (program === "read" ? args : afterV(args)).map(({ text = "" }) => text.replace(/^-v/, ""));
    const run = named.find(isRun);
    return run === undefined ? sets : { problem: `programs run the content of the variable ${run} as a command` };
  }
  if (!SETTING.has(program)) return sets;
  const unknown = args.some((word) => word.text === undefined && settingIn(word) === undefined);
  if (unknown && program !== "make" && program !== "gmake")
    return { problem: `"${program}" sets a variable that is only known at run time` };
  return [...sets, ...args.flatMap((word) => (isOption(word) ? [] : (settingIn(word) ?? [])))];
}

/** The words of `printf` that may name a variable. */
const afterV = (args: readonly ShellWord[]): readonly ShellWord[] => (isOption(args[0] ?? {}) ? args.slice(0, 2) : []);

const SETTING = new Set(words("export declare typeset local readonly make gmake"));

const isOption = ({ text, begins = "" }: ShellWord): boolean => (text ?? begins).startsWith("-");

/** Stands for a command line that cannot be analysed, because it is in a file or only known at run time. */
const NOT_READABLE = Symbol("not readable");

/**
 * The command line that programs run because of a variable; `undefined`: the variable is not known to hold a command
 * line.
 */
function lineIn(
  { name, value }: VariableSetting,
  all: readonly VariableSetting[],
): string | typeof NOT_READABLE | undefined {
  if (!isRun(name)) return undefined;
  if (value === undefined || NAMES_A_FILE.test(name)) return NOT_READABLE;
  if (/^PS\d$/.test(name)) return /[`$]/.test(value) ? NOT_READABLE : "";
  // A name without a folder, as in ENV=production, is seldom a file with commands.
  if (name === "ENV") return /[`$/]/.test(value) ? NOT_READABLE : "";
  if (name === "LESS") return value.includes("!") ? NOT_READABLE : "";
  if (name.startsWith("GIT_CONFIG_")) return gitSetting(name, all);
  const program = OPTIONS_OF[name];
  if (program !== undefined) return `${program} ${value}`;
  if (/SHELL$/i.test(name) && SHELLS.has(programName(value))) return "";
  // git, rsync and other programs append a host and a command to this value.
  if (/(?:SSH|RSH|SSH_COMMAND)$/.test(name)) return `${value} host true`;
  return value.replace(/^[!|&-]+/, "");
}

/** Variables whose value is a command line, a file with commands, or options of a program that can run commands. */
function isRun(name: string): boolean {
  return HOLDS_A_LINE.test(name) || NAMES_A_FILE.test(name) || Object.hasOwn(OPTIONS_OF, name);
}

const HOLDS_A_LINE =
  /(?:PAGER|EDIT|EDITOR|VISUAL|BROWSER|ASKPASS|SSH|RSH|SHELL|COMMAND|CMD|DIFF|WRAPPER|LAUNCHER|VIEWER|PROG|HOOK)$|^(?:LESSOPEN|LESSCLOSE|LESS|PS\d|ENV|GIT_CONFIG_(?:KEY|VALUE)_\d+)$|^npm_config_(?:script_shell|shell|editor|viewer|browser|git)$/;

const NAMES_A_FILE =
  /^(?:BASH_ENV|ZDOTDIR|BASH_FUNC_[^]*|GIT_CONFIG|GIT_CONFIG_(?:GLOBAL|SYSTEM|PARAMETERS)|GIT_EXEC_PATH|RIPGREP_CONFIG_PATH|MAKEFILES|VIMINIT|GVIMINIT|EXINIT|INPUTRC)$/;

/** Variables whose value is further options of a program, and the beginning of a command line with these options. */
const OPTIONS_OF: Readonly<Record<string, string>> = {
  TAR_OPTIONS: "tar -f x",
  MAKEFLAGS: "make",
  GNUMAKEFLAGS: "make",
  MFLAGS: "make",
  FZF_DEFAULT_OPTS: "fzf",
  MANOPT: "man",
};

const SHELLS = new Set(words("sh bash dash zsh ksh ash fish"));

/** A pair of variables such as GIT_CONFIG_KEY_0 and GIT_CONFIG_VALUE_0 as an option of git. */
function gitSetting(name: string, all: readonly VariableSetting[]): string | typeof NOT_READABLE {
  const [key, value] = ["KEY", "VALUE"].map(
    (half) => all.findLast((each) => each.name === name.replace(/_(?:KEY|VALUE)_/, `_${half}_`))?.value,
  );
  if (key === undefined || value === undefined) return NOT_READABLE;
  return `git -c '${`${key}=${value}`.replaceAll("'", "'\\''")}' status`;
}
