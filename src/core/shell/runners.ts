import { words } from "../text/words.ts";
import type { ShellWord } from "./parse.ts";
import { programName } from "./program-name.ts";

/** Programs that only run what follows: a rule for `npm test` covers `timeout 60 npm test`, too. */
const PREFIXES = new Set(words("env nice nohup setsid stdbuf time timeout"));

/** Programs that run the program or script whose name follows. */
const LAUNCHERS = new Set(
  words("builtin command doas exec sudo xargs npx pnpx bunx uvx source . sh bash dash zsh ksh mksh ash fish"),
);

/** Programs that run others in ways that the line does not show plainly: on a machine, in a box, by an option. */
const OTHERS = new Set(
  words(`
    eval trap alias jobs parallel watch script ssh scp rsync su runuser chroot unshare nsenter bwrap systemd-run busybox
    toybox strace ltrace gdb perf valgrind flock taskset chrt prlimit ionice tmux screen at batch crontab expect entr
    zip split vi vim nvim view ex ed less more man ccache docker podman kubectl fd fdfind
  `),
);

/** The subcommands and options with which these programs run another program. */
const RUNNING: Readonly<Record<string, string>> = {
  npm: "exec x",
  pnpm: "exec dlx",
  yarn: "exec dlx",
  bun: "x",
  uv: "run",
  poetry: "run",
  pipenv: "run",
  pdm: "run",
  bundle: "exec",
  docker: "exec run",
  podman: "exec run",
  kubectl: "exec run",
  fd: "-x -X --exec --exec-batch",
  fdfind: "-x -X --exec --exec-batch",
};

type NamedProgram = Readonly<{
  /** The index of the first word that a `*` in a rule does not cover. */
  from: number;
  /** The index of the program or script that is run; absent: it is not certain where that begins. */
  runs?: number;
  /** True: nothing but that program has an effect. */
  isPrefix?: boolean;
}>;

/** Where a command names another program that it runs; `undefined`: it is not known to run one. */
export function runnerIn(given: readonly ShellWord[]): NamedProgram | undefined {
  const texts = given.map(({ text = "$" }) => text);
  const name = programName(texts[0] ?? "");
  const running = Object.hasOwn(RUNNING, name) ? words(RUNNING[name]!) : undefined;
  const isPrefix = PREFIXES.has(name);
  if (running === undefined && !isPrefix && !LAUNCHERS.has(name) && !OTHERS.has(name)) return undefined;
  const from = running === undefined ? 1 : texts.findIndex((text, at) => at > 0 && running.includes(text));
  if (from < 0) return undefined;
  const after = running === undefined ? from : from + 1;
  const runs = texts.findIndex((text, at) => at >= after && !(isPrefix && /^(?:\d+[smhd]?|\w+=.*)$/s.test(text)));
  const isCertain = !OTHERS.has(name) && /^[\w./@][^=]*$/s.test(texts[runs] ?? "");
  return { from, ...(isCertain && { runs, isPrefix }) };
}
