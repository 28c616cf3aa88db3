import { spawn } from "node:child_process";

/** A watchdog process that kills a process group, and all marked processes, when this process dies. */
export type Watchdog = Readonly<{
  guard(group: number): void;
  /** Announces a kill: the watchdog does it if this process is too busy. */
  hurry(): void;
  dismiss(): Promise<void>;
}>;

/**
 * A shell that reads a pipe which only this process holds. However this process dies, the pipe closes; then the shell sends SIGTERM,
 * a second later SIGKILL, and runs the follow-up program. It is started before the guarded program, so that there is no gap.
 */
export function watchdogFor(marker: string, afterwards: readonly string[] = []): Watchdog {
  const dog = spawn("/bin/sh", ["-c", SCRIPT, "subcrew-watchdog", marker, ...afterwards], {
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
  return {
    guard: (group) => void dog.stdin.write(`${group}\n`),
    hurry: () => void dog.stdin.write("hurry\n"),
    dismiss: () => {
      dog.ref(); // a waiter must not exit before that
      dog.kill("SIGKILL");
      return gone;
    },
  };
}

/** How long after {@link Watchdog.hurry} everything is killed, even if this process hangs. */
const HURRY_S = 3;

const SCRIPT = `
kill_all() {
  if [ -n "$group" ]; then kill -KILL -- "-$group"; fi
  for round in 1 2 3 4 5; do
    all=$(grep -lzFx -e "$marker" /proc/[0-9]*/environ)
    if [ -z "$all" ]; then break; fi
    for found in $all; do
      found=\${found#/proc/}
      kill -KILL "\${found%/environ}"
    done
  done
}
marker=$1; shift
read -r group
read -r order
if [ "$order" = hurry ]; then sleep ${HURRY_S}; kill_all; read -r end; fi
if [ -n "$group" ]; then kill -TERM -- "-$group"; fi
sleep 1
kill_all
if [ $# -gt 0 ]; then exec "$@"; fi
`;
