import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { LEAVE } from "../../tui/top/field-screen.ts";
import { terminalJob } from "./terminal-job.ts";

/**
 * The terminal modes that a screen turns on, each with the text that turns it off, in this order. `keys` is the raw
 * mode of the keyboard.
 */
const undo = {
  fields: LEAVE,
  alternate: "\u001b[?1049l",
  paste: "\u001b[?2004l",
  cursor: "\u001b[?25h",
  keys: "",
} as const;
export type TerminalMode = keyof typeof undo;

const SYNCHRONISED_OFF = "\u001b[?2026l";

/**
 * A shell script that restores the terminal after its process died. It reads the modes to restore, one per line, until
 * the process has ended; after a clean exit there are no modes to restore. A terminal that another job uses is left
 * alone; the shell that started the process does not count as another job. The keyboard is reset only if it is still in
 * raw mode, because a shell may already have set its own mode. Arguments: the keyboard settings, the process group, the
 * session leader. Descriptor 3 is the keyboard.
 */
const SCRIPT = `
saved=$1 group=$2 leader=$3 keys= undo=
while IFS=' ' read -r first rest; do keys=$first undo=$rest; done
[ "$keys" = keys ] || [ -n "$undo" ] || exit 0
{ IFS= read -r stat </proc/$leader/stat; } 2>/dev/null && {
  set -- \${stat##*) }
  case $6 in -1 | 0 | $3 | $group) ;; *) exit 0 ;; esac
}
[ -z "$undo" ] || printf %s "$undo"
[ "$keys" = keys ] && [ -n "$saved" ] || exit 0
case $(stty -a <&3) in *-isig*-icanon* | *-icanon*-isig*) stty "$saved" <&3 ;; esac
`;

const on = new Set<TerminalMode>();
let guard: ChildProcess | undefined;

/**
 * Records that this process turned a terminal mode on or off. While a mode is on, a small shell process runs beside
 * this one and turns it off after a crash or SIGKILL, when no handler of this process can.
 */
export function guardTerminal(mode: TerminalMode, isOn: boolean): void {
  if (on.has(mode) === isOn || process.platform === "win32" || !process.stderr.isTTY) return;
  if (isOn) on.add(mode);
  else on.delete(mode);
  if (on.size > 0) guard ??= startGuard();
  const texts = (Object.keys(undo) as TerminalMode[]).filter((each) => on.has(each)).map((each) => undo[each]);
  const text = texts.length > 0 ? `${SYNCHRONISED_OFF}${texts.join("")}` : "";
  guard?.stdin?.write(`${on.has("keys") ? "keys" : "-"} ${text}\n`);
  if (on.size > 0) return;
  guard?.stdin?.end();
  guard = undefined;
}

function startGuard(): ChildProcess {
  const { group = "", leader = "" } = terminalJob() ?? {};
  // The shell has its own session, so that signals to the job of this process, as by Ctrl-C, do not end it.
  const started = spawn("/bin/sh", ["-c", SCRIPT, "subcrew-terminal-guard", keyboardSettings(), group, leader], {
    stdio: ["pipe", 2, "ignore", 0],
    detached: true,
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
  });
  const ignore = (): void => {}; // without a shell there is no guard process, but the screens work
  started.on("error", ignore);
  started.stdin?.on("error", ignore);
  started.unref();
  (started.stdin as Socket).unref();
  return started;
}

/** The keyboard settings in the format of `stty`; empty when it fails. */
function keyboardSettings(): string {
  if (!process.stdin.isTTY) return "";
  try {
    return execFileSync("stty", ["-g"], { encoding: "utf8", stdio: [0, "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
}
