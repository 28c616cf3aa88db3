import { readdirSync, readFileSync } from "node:fs";

/** The file descriptors above 2 that a child would inherit, because the parent of this process left them open. */
export function inheritedDescriptors(): number[] {
  if (process.platform !== "linux") return [];
  try {
    return readdirSync("/proc/self/fd")
      .map(Number)
      .filter((fd) => fd > 2 && isPassedOn(fd));
  } catch {
    return [];
  }
}

const CLOSE_ON_EXEC = 0o2000000;

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // this was the descriptor of the directory listing itself, which is closed by now
  }
}

/** The command that starts a program through bash, which closes these descriptors first. */
export function without(
  descriptors: readonly number[],
  file: string,
  args: readonly string[],
): [file: string, args: readonly string[]] {
  if (descriptors.length === 0) return [file, args];
  const closing = descriptors.map((fd) => `exec ${fd}>&-`).join("; ");
  return ["/bin/bash", ["--noprofile", "--norc", "-c", `${closing}; exec "$@"`, "bash", file, ...args]];
}
