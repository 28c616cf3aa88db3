import { type ChildProcess, spawn } from "node:child_process";
import { signalGroup } from "./process-tree.ts";

/** Guards one program: its process group, and all processes with its marker, are killed when this process dies. */
export type Watchdog = Readonly<{
  guard(group: number): void;
  /**
   * Announces that this process will kill the program. If this process is too busy to do it, the watchdog kills the
   * program.
   */
  hurry(): void;
  /**
   * Announces that the program has ended, so that its process group is not used any more. The program `ifKilled` stays
   * registered.
   */
  ended(): void;
  dismiss(): Promise<void>;
}>;

/**
 * The program to run after this process was killed. It runs once all started processes have ended, and gets the records
 * of all commands at once.
 */
export type AfterKill = Readonly<{ program: readonly [file: string, script: string]; record: string }>;

/** A program to guard: the marker of all its processes, and whether the processes end with their sandbox. */
export type GuardedProgram = Readonly<{ marker: string; boxed?: boolean; ifKilled?: AfterKill }>;

/**
 * The watchdog: a shell that reads a pipe whose other end only this process has open. However this process dies, the
 * pipe closes; then the shell sends SIGTERM, a second later SIGKILL, and runs the follow-up program. It is started
 * before the first guarded program, so that there is no gap, and guards all programs that run side by side: with one
 * shell for each, ending thirty commands took twice as long.
 */
type Shell = Readonly<{
  dog: ChildProcess;
  gone: Promise<void>;
  guarded: Set<number>;
  /**
   * The programs that still have to be reported to the shell: programs that are being killed, programs that have ended,
   * and programs that are not guarded any more.
   */
  hurried: number[];
  ended: number[];
  done: number[];
  tell(...lines: readonly (string | number)[]): void;
}>;

/**
 * The running watchdog shells, by their follow-up program. This is module state on purpose: the pipe belongs to the
 * process.
 */
const shells = new Map<string, Shell>();
let last = 0;

export function watchdogFor({ marker, boxed = false, ifKilled }: GuardedProgram): Watchdog {
  const key = ifKilled?.program.join("\n") ?? "";
  const shell = shells.get(key) ?? startShell(key, ifKilled?.program ?? []);
  const id = ++last;
  shell.guarded.add(id);
  return {
    guard: (group) => shell.tell("guard", id, group, boxed ? "boxed" : "", oneLine(ifKilled?.record ?? ""), marker),
    hurry: () => announce(shell, id),
    ended: () => reportLater(shell, "ended", id),
    dismiss: () => dismiss(key, shell, id),
  };
}

/**
 * Reports to the watchdog which programs are being killed. The first program is reported at once, since this process
 * may hang from now on; later programs of the same event loop turn are reported together.
 */
function announce(shell: Shell, id: number): void {
  shell.hurried.push(id);
  if (shell.hurried.length > 1) return;
  shell.tell("hurry", id);
  queueMicrotask(() => {
    const others = shell.hurried.splice(0).slice(1);
    if (others.length > 0) shell.tell("hurry", others.join(" "));
  });
}

async function dismiss(key: string, shell: Shell, id: number): Promise<void> {
  if (!shell.guarded.delete(id)) return;
  if (shell.guarded.size > 0) return reportLater(shell, "done", id);
  if (shells.get(key) === shell) shells.delete(key);
  shell.dog.ref(); // this process must not exit before the shell has ended
  if (shell.dog.pid !== undefined) signalGroup(shell.dog.pid, "SIGKILL");
  await shell.gone;
}

function reportLater(shell: Shell, order: "ended" | "done", id: number): void {
  const ids = shell[order];
  ids.push(id);
  if (ids.length === 1) setTimeout(() => shell.tell(order, ids.splice(0).join(" ")), TOGETHER_MS).unref();
}

/**
 * How long reports are collected before they are sent. Each report wakes the shell, and takes processor time that
 * ending the programs needs.
 */
const TOGETHER_MS = 100;

function startShell(key: string, program: readonly string[]): Shell {
  const dog = spawn("/bin/sh", ["-c", SCRIPT, "subcrew-watchdog", ...program], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const gone = new Promise<void>((resolve) => {
    dog.once("exit", () => resolve());
    dog.once("error", () => resolve());
  });
  dog.stdin.on("error", () => {});
  dog.unref();
  const shell: Shell = {
    dog,
    gone,
    guarded: new Set(),
    hurried: [],
    ended: [],
    done: [],
    tell: (...lines) => void dog.stdin.write(`${lines.join("\n")}\n`),
  };
  shells.set(key, shell);
  void gone.then(() => {
    if (shells.get(key) === shell) shells.delete(key);
  });
  return shell;
}

/**
 * The path of a record, or an empty text if the path contains a newline; the next subcrew process finds such a record
 * by itself.
 */
const oneLine = (path: string): string => (path.includes("\n") ? "" : path);

/** The time after {@link Watchdog.hurry} at which everything is killed, even if this process hangs. */
const HURRY_S = 3;

/**
 * Group ids are used only until this process reports that the group has ended. After the time that `hurry` allows, a
 * group id may have been reused, so the first process of the group must have the marker.
 */
const SCRIPT = `
ids=
look_up() { eval "group=\\$group_$1 boxed=\\$boxed_$1 record=\\$record_$1 marker=\\$marker_$1"; }
bearers() {
  found=$(grep -lzFx "$@" 2>/dev/null)
  pids=
  for path in $found; do path=\${path#/proc/}; pids="$pids \${path%/environ}"; done
}
kill_marked() {
  for round in 1 2 3 4 5; do
    bearers "$@" /proc/[0-9]*/environ
    if [ -z "$pids" ]; then break; fi
    kill -KILL $pids
  done
}
while read -r order; do
  read -r which
  case $order in
    guard)
      read -r group; read -r boxed; IFS= read -r record; IFS= read -r marker
      eval "group_$which=\\$group boxed_$which=\\$boxed record_$which=\\$record marker_$which=\\$marker"
      ids="$ids $which" ;;
    ended)
      for each in $which; do eval "group_$each="; done ;;
    done)
      for gone in $which; do
        left=
        for each in $ids; do if [ "$each" != "$gone" ]; then left="$left $each"; fi; done
        ids=$left
      done ;;
    hurry)
      (
        sleep ${HURRY_S}
        set --
        for each in $which; do look_up $each; set -- "$@" -e "$marker"; done
        for each in $which; do look_up $each; set -- "$@" "/proc/$group/environ"; done
        bearers "$@"
        for pid in $pids; do kill -KILL -- "-$pid"; done
        set --
        for each in $which; do look_up $each; if [ -z "$boxed" ]; then set -- "$@" -e "$marker"; fi; done
        if [ $# -gt 0 ]; then kill_marked "$@"; fi
      ) & ;;
  esac
done
if [ -z "$ids" ]; then exit; fi
node=$1 script=$2
set --
for each in $ids; do
  look_up $each
  if [ -n "$group" ]; then kill -TERM -- "-$group"; fi
  set -- "$@" -e "$marker"
done
sleep 1
for each in $ids; do look_up $each; if [ -n "$group" ]; then kill -KILL -- "-$group"; fi; done
kill_marked "$@"
set --
for each in $ids; do look_up $each; if [ -n "$record" ]; then set -- "$@" "$record"; fi; done
if [ -n "$script" ] && [ $# -gt 0 ]; then exec "$node" "$script" "$@"; fi
`;
