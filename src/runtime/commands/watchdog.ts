import { spawn } from "node:child_process";

/** Somebody outside who ends a group of processes, and whoever bears its marker, when this process is gone. */
export type Watchdog = Readonly<{
  guard(group: number): void;
  /** They are about to be ended: the watchdog sees to it that they are, also when this process is too busy. */
  hurry(): void;
  dismiss(): Promise<void>;
}>;

/**
 * A shell that waits for the end of a pipe that only we hold. However we die, the pipe ends; then it asks the group to end,
 * and a second later makes it; then it runs the program that is to follow. It is started before what it guards, so that there is no moment without it.
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
      dog.ref(); // whoever waits for its end must not end before that
      dog.kill("SIGKILL");
      return gone;
    },
  };
}

/** How long after {@link Watchdog.hurry} everything is killed, whatever this process does meanwhile. */
const HURRY_S = 3;

const SCRIPT = `
kill_all() {
  if [ -n "$group" ]; then kill -KILL -- "-$group"; fi
  for round in 1 2 3 4 5; do
    for found in $(grep -lzFx -e "$marker" /proc/[0-9]*/environ); do
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
