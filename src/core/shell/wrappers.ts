import { words } from "../text/words.ts";
import { runByOptions } from "./inner-commands.ts";
import { isOneValue } from "./options.ts";
import { programName } from "./program-name.ts";
import { parseShell, type ShellCommand, type VariableSetting, type ShellWord, settingIn } from "./parse.ts";

/**
 * The inner commands of a wrapper such as `sudo` or `xargs`, and whether the wrapper itself has no other effect.
 * `undefined`: not a wrapper. With a `problem`: the inner command cannot be read from the arguments.
 */
export function unwrap(command: ShellCommand): UnwrappedCommand | undefined {
  const [first, ...args] = command.words;
  const program = first?.text === undefined ? undefined : programName(first.text);
  if (program === undefined || first?.glob)
    return first === undefined ? undefined : { problem: "the program is only known at run time" };
  if (OPAQUE.has(program) || /^(?:ld-(?:linux|musl)|qemu-(?!img|nbd|io|ga|system))/.test(program))
    return { problem: `the command that "${program}" runs cannot be read from its arguments` };
  const behindOptions = runByOptions(program, args);
  if (behindOptions?.problem !== undefined) return { problem: behindOptions.problem };
  const wrapped = Object.hasOwn(wrappers, program) ? wrappers[program]!(args) : undefined;
  if (behindOptions === undefined || (wrapped && "problem" in wrapped)) return wrapped;
  const lines = behindOptions.lines.map((line) => joined([{ text: line }]));
  const unread = lines.find((line) => "problem" in line);
  if (unread) return unread;
  const commands = lines.flatMap((line) => ("inner" in line ? line.inner : []));
  return inner([...(wrapped?.inner ?? []), ...commands], false);
}

export type UnwrappedCommand =
  | Readonly<{ inner: readonly ShellCommand[]; transparent: boolean }>
  | Readonly<{ problem: string }>;

/** Programs that run other commands in ways that are not analysed. */
const OPAQUE = new Set(
  words(`
    parallel su runuser chroot unshare nsenter strace ltrace gdb flock busybox toybox firejail bwrap systemd-run at batch
    crontab expect unbuffer rlwrap entr fakeroot xvfb-run dbus-run-session source . trap alias enable hash bind complete
    compgen fc mapfile readarray start-stop-daemon setarch linux64 linux32 proot torsocks torify proxychains proxychains4
    chrt taskset setpriv prlimit numactl cpulimit faketime datefudge caffeinate perf valgrind hyperfine sem sg newgrp pkexec
    catchsegv fish csh tcsh nu elvish xonsh pwsh sshpass capsh cgexec choom uclampset runcon nix-shell aa-exec chpst setuidgid envdir softlimit ld.so
    pee mispipe lockf lckdo xe apply xapply rush gargs autossh systemd-nspawn schroot rr heaptrack scan-build intercept-build cov-build
    checkinstall wine wine64 box64 fex-emu xinit coreutils sbase-box envchain dockerize s6-setuidgid s6-envdir execlineb
  `),
);

type Unwrap = (args: readonly ShellWord[]) => UnwrappedCommand | undefined;

/**
 * The options of a wrapper before the inner command: letters without and with a value, words without and with a value.
 */
type Grammar = Readonly<{
  flags?: string;
  valued?: string;
  long?: string;
  /** A subcommand that may stand before the inner command, with options of its own. */
  subcommand?: string;
  /** Number of words between the options and the inner command. */
  before?: number;
  /** True: `NAME=value` is allowed before the inner command. */
  sets?: true;
  transparent?: false;
}>;

const grammars: Readonly<Record<string, Grammar>> = {
  env: { flags: "i0v", valued: "u", long: "ignore-environment unset= null debug", sets: true },
  nice: { valued: "n", long: "adjustment=" },
  ionice: { flags: "t", valued: "cn" },
  nohup: {},
  setsid: { flags: "cfw", long: "ctty fork wait" },
  stdbuf: { valued: "ioe", long: "input= output= error=" },
  timeout: { flags: "v", valued: "ks", long: "preserve-status foreground kill-after= signal= verbose", before: 1 },
  time: { flags: "pv", valued: "f" },
  command: { flags: "p" },
  builtin: {},
  exec: { flags: "cl", valued: "a", transparent: false },
  sudo: {
    flags: "EHnSkbKA",
    valued: "ugpCrtTUDR",
    long: "user= group= non-interactive preserve-env",
    sets: true,
    transparent: false,
  },
  doas: { flags: "n", valued: "uC", transparent: false },
  xargs: {
    flags: "0rtxp",
    valued: "nIPdLEas",
    long: "null no-run-if-empty max-args= max-procs= replace delimiter= arg-file= verbose",
    transparent: false,
  },
  npx: { flags: "y", valued: "p", long: "yes no-install package=", transparent: false },
  chronic: { flags: "ev" },
  eatmydata: {},
  ccache: { flags: "cChpsvVxz", transparent: false },
  sccache: { flags: "shVz", transparent: false },
  distcc: {},
  icecc: {},
  retry: { valued: "dntm", long: "delay= times= until= max-retries=", transparent: false },
  "systemd-cat": { valued: "tp", long: "identifier= priority= stderr-priority= level-prefix=" },
  "systemd-inhibit": { long: "what= who= why= mode=" },
  run0: { valued: "ugD", long: "user= group= chdir= nice= unit=", transparent: false },
  tini: { flags: "sgvw", valued: "pe" },
  "dumb-init": { flags: "cv", valued: "r", long: "single-child rewrite= verbose" },
  gosu: { before: 1, transparent: false },
  "su-exec": { before: 1, transparent: false },
  logsave: { flags: "asv", before: 1, transparent: false },
  ifne: { flags: "n" },
  "ssh-agent": { flags: "csDd", valued: "aEtPO", transparent: false },
  "dbus-launch": { long: "auto-syntax exit-with-session sh-syntax" },
  "cross-env": { sets: true },
  "cross-env-shell": { sets: true },
  dotenv: { valued: "evc", subcommand: "run", transparent: false },
  watchexec: {
    flags: "rcn",
    valued: "wefisdo",
    long: "watch= exts= filter= ignore= signal= restart clear no-shell debounce= on-busy-update=",
    transparent: false,
  },
};

/**
 * Package managers that run a program of a project: the subcommands after which the program follows, and the options
 * before it.
 */
const runners: Readonly<Record<string, Grammar & Readonly<{ after: string }>>> = {
  pnpx: { after: "" },
  nlx: { after: "" },
  npm: { after: "exec x", flags: "y", valued: "p", long: "yes no package=" },
  pnpm: { after: "exec dlx", flags: "r", valued: "C", long: "recursive package=" },
  yarn: { after: "exec dlx", flags: "q", valued: "p", long: "quiet package=" },
  yarnpkg: { after: "exec dlx", flags: "q", valued: "p", long: "quiet package=" },
  bun: { after: "x", long: "bun silent" },
  uv: {
    after: "run",
    flags: "qv",
    valued: "p",
    long: "with= python= project= directory= extra= group= package= env-file= quiet frozen locked no-sync",
  },
  uvx: { after: "", flags: "qv", valued: "p", long: "from= with= python= quiet" },
  bunx: { after: "", long: "bun silent" },
  poetry: { after: "run" },
  pipenv: { after: "run" },
  pdm: { after: "run" },
  hatch: { after: "run" },
  rye: { after: "run" },
  pipx: { after: "run", long: "spec=" },
  conda: { after: "run", valued: "np", long: "name= prefix= no-capture-output live-stream" },
  mamba: { after: "run", valued: "np", long: "name= prefix=" },
  bundle: { after: "exec", long: "keep-file-descriptors" },
  pyenv: { after: "exec" },
  rbenv: { after: "exec" },
  direnv: { after: "exec", before: 1 },
  mise: { after: "exec x" },
  asdf: { after: "exec" },
};

const wrappers: Readonly<Record<string, Unwrap>> = {
  ...Object.fromEntries(
    Object.entries(grammars).map(([name, grammar]): [string, Unwrap] => [name, (args) => behind(name, grammar, args)]),
  ),
  ...Object.fromEntries(
    Object.entries(runners).map(([name, row]): [string, Unwrap] => [name, (args) => behindRunner(name, row, args)]),
  ),
  command: (args) => (/^-[vV]$/.test(args[0]?.text ?? "") ? undefined : behind("command", grammars["command"]!, args)),
  corepack: ([first, ...args]) => {
    const manager = /^(npm|npx|pnpm|pnpx|yarn|yarnpkg)(?:@|$)/.exec(first?.text ?? "")?.[1];
    return manager === undefined
      ? undefined
      : inner([{ words: [{ text: manager }, ...args], sets: [], redirects: [] }], false);
  },
  eval: (args) => joined(args[0]?.text === "--" ? args.slice(1) : args),
  ...Object.fromEntries(
    words("sh bash dash zsh ksh ash rbash mksh lksh yash posh osh").map((name): [string, Unwrap] => [name, shellWith]),
  ),
  find: insideFind,
  jobs: (args) =>
    args.some(({ text = "-x" }) => /^-\w*x/.test(text))
      ? { problem: 'the command that "jobs" runs cannot be read from its arguments' }
      : undefined,
  fd: insideFd,
  fdfind: insideFd,
  watch: (args) =>
    joined(afterOptions({ flags: "bcdegtwx", valued: "nq", long: "interval= differences no-title" }, args)),
  ssh: (args) => {
    const [host, ...rest] = afterOptions({ flags: "46AaCfGgKkMNnqsTtVvXxYy", valued: "BbcDeiJLlmpQRW" }, args) ?? [];
    const line = rest[0]?.text === "--" ? rest.slice(1) : rest;
    return host === undefined || line.length === 0
      ? { problem: "the command runs in a shell on another machine" }
      : opaque(joined(line));
  },
  script: (args) => {
    const at = args.findIndex(({ text }) => text === "-c" || text === "--command");
    return at < 0 ? { problem: '"script" starts a shell' } : opaque(joined(args.slice(at + 1, at + 2)));
  },
};

/** The program that a package manager's subcommand runs; `undefined`: its arguments name no program. */
function behindRunner(
  name: string,
  { after, ...grammar }: Grammar & { after: string },
  args: readonly ShellWord[],
): UnwrappedCommand | undefined {
  const isOption = ({ text }: ShellWord): boolean => text !== undefined && text.startsWith("-");
  const at = after === "" ? -1 : args.findIndex((word) => !isOption(word));
  if (after !== "" && !words(after).includes(args[at]?.text ?? "")) {
    // An option before the subcommand may take a value: then the subcommand is a later word.
    const hidden =
      args.slice(0, Math.max(at, 0)).some(isOption) && args.some(({ text }) => words(after).includes(text ?? ""));
    const nested = args[at]?.text === "tool" && args[at + 1]?.text === "run";
    return hidden || nested
      ? { problem: `the command that "${name}" runs cannot be read from its arguments` }
      : undefined;
  }
  return behind(name, { ...grammar, transparent: false }, args.slice(at + 1));
}

const opaque = (inner: UnwrappedCommand): UnwrappedCommand =>
  "problem" in inner ? inner : { ...inner, transparent: false };

/** The command after the options of a wrapper; empty: the wrapper runs nothing. */
function behind(name: string, grammar: Grammar, args: readonly ShellWord[]): UnwrappedCommand | undefined {
  const first = afterOptions(grammar, args);
  const isSubcommand = grammar.subcommand !== undefined && first?.[0]?.text === grammar.subcommand;
  const rest = isSubcommand ? afterOptions({}, first.slice(1)) : first;
  if (rest === undefined) return { problem: `subcrew does not know an option of "${name}"` };
  // For `env`, a dash alone is an option.
  const given = name === "env" && rest[0]?.text === "-" ? rest.slice(1) : rest;
  const sets = grammar.sets ? setsOf(given) : [];
  const start = sets.length + (grammar.before ?? 0);
  if (!given.slice(sets.length, start).every(isOneValue))
    return { problem: `an argument of "${name}" is only known at run time` };
  const words = given.slice(start);
  if (words.length === 0 && sets.length === 0)
    return name === "xargs" ? inner([{ words: [{ text: "echo" }], sets, redirects: [] }], false) : undefined;
  return inner(
    [{ words: name === "xargs" ? withInput(words, args) : words, sets, redirects: [] }],
    grammar.transparent !== false,
  );
}

/** The words of a command that xargs runs. The input of xargs becomes unknown words, at the end or at a placeholder. */
function withInput(words: readonly ShellWord[], args: readonly ShellWord[]): readonly ShellWord[] {
  const at = args.findIndex(({ text = "" }) => /^(?:-[A-Za-z]*I|--replace)/.test(text));
  const option = args[at]?.text ?? "";
  const mark =
    /^-[A-Za-z]*I(.+)$/s.exec(option)?.[1] ??
    /=(.+)$/s.exec(option)?.[1] ??
    (option.startsWith("--") ? "{}" : args[at + 1]?.text);
  if (at < 0 || mark === undefined) return [...words, {}];
  return words.map((word) => (word.text?.includes(mark) ? {} : word));
}

/** The assignments before an inner command. `env` takes every word with "=" for an assignment, whatever its name. */
function setsOf(words: readonly ShellWord[]): VariableSetting[] {
  const end = words.findIndex((word) => word.text === undefined || settingIn(word) === undefined);
  return words.slice(0, end < 0 ? undefined : end).map((word) => settingIn(word)!);
}

/** The words after the options, or `undefined` when one of the options or its value is not known. */
function afterOptions(
  { flags = "", valued = "", long = "" }: Grammar,
  args: readonly ShellWord[],
): readonly ShellWord[] | undefined {
  const longs = new Set(long.split(" "));
  for (let at = 0; at < args.length; at++) {
    const { text } = args[at]!;
    if (text === undefined) return undefined;
    if (text === "--") return args.slice(at + 1);
    if (!text.startsWith("-") || text === "-") return args.slice(at);
    if (text.startsWith("--")) {
      const name = text.slice(2).replace(/=[\s\S]*$/, "");
      if (longs.has(`${name}=`) && !text.includes("=")) {
        if (!isOneValue(args[++at] ?? NOTHING)) return undefined;
      } else if (!longs.has(`${name}=`) && !longs.has(name)) return undefined;
    } else if (!/^-\d+$/.test(text)) {
      const letters = text.slice(1);
      const end = Array.from(letters).findIndex((letter) => !flags.includes(letter));
      if (end >= 0 && !valued.includes(letters.charAt(end))) return undefined;
      if (end === letters.length - 1 && !isOneValue(args[++at] ?? NOTHING)) return undefined;
    }
  }
  return [];
}

const NOTHING: ShellWord = { text: "" };

/** Options of shells without a value, which may also follow `-c`. */
const SHELL_FLAGS = "abcefhiklmnprtuvxBCEHPT";

/** The command that `sh -c` runs. A shell with a script, or without arguments, cannot be analysed. */
function shellWith(args: readonly ShellWord[]): UnwrappedCommand {
  const at = args.findIndex(({ text = "" }) => /^-[a-zA-Z]*c$/.test(text));
  const known = args
    .slice(0, at)
    .every(({ text = "" }) => /^-[a-zA-Z]+$/.test(text) || text === "--norc" || text === "--noprofile");
  if (at < 0 || !known) return { problem: "a shell runs a script that is not on the command line" };
  const rest = afterOptions({ flags: SHELL_FLAGS }, args.slice(at + 1));
  if (rest === undefined || rest[0]?.text?.startsWith("+"))
    return { problem: "an option between -c and the command is not known" };
  return joined(rest.slice(0, 1));
}

function insideFind(args: readonly ShellWord[]): UnwrappedCommand | undefined {
  const commands: ShellCommand[] = [];
  for (let at = 0; at < args.length; at++) {
    const { text } = args[at]!;
    if (text === undefined) return { problem: "an argument of find is only known at run time" };
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(text)) continue;
    const end = args.findIndex((word, place) => place > at && (word.text === ";" || word.text === "+"));
    commands.push({ words: args.slice(at + 1, end < 0 ? undefined : end), sets: [], redirects: [] });
    at = end < 0 ? args.length : end;
  }
  return commands.length === 0 ? undefined : inner(commands, false);
}

function insideFd(args: readonly ShellWord[]): UnwrappedCommand | undefined {
  return args.some(({ text = "-x" }) => /^(?:-\w*[xX]|--exec)/.test(text))
    ? { problem: 'the command that "fd" runs cannot be read from its arguments' }
    : undefined;
}

/** The command in words that a program joins and passes to a shell, as `eval` does. */
function joined(words: readonly ShellWord[] | undefined): UnwrappedCommand {
  if (words === undefined || words.length === 0 || words.some(({ text, glob }) => text === undefined || glob))
    return { problem: "the inner command is only known at run time" };
  const parsed = parseShell(words.map(({ text }) => text).join(" "));
  return "problem" in parsed
    ? { problem: `the inner command cannot be read: ${parsed.problem}` }
    : inner(parsed.commands, true);
}

const inner = (commands: readonly ShellCommand[], transparent: boolean): UnwrappedCommand => ({
  inner: commands,
  transparent,
});
