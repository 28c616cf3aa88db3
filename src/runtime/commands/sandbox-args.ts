import { existsSync } from "node:fs";
import { sep } from "node:path";
import { words } from "../../core/text/words.ts";

/** The parts of the file system that a sandboxed program sees. All paths are real paths. */
export type SandboxMounts = Readonly<{
  /** Folders that the program may write. */
  writable: readonly string[];
  /** Paths that stay read-only inside writable folders. */
  readOnly: readonly string[];
  /** Folders that are mounted on themselves, so that they cannot be renamed. */
  pinned: readonly string[];
  /** Paths that are hidden from the program. */
  hiddenFolders: readonly string[];
  hiddenFiles: readonly string[];
  /** Paths that stay visible inside the folders that are otherwise empty. */
  kept: readonly string[];
  env: Readonly<Record<string, string>>;
  network: boolean;
  /** The descriptor from which the filter of system calls is read; absent: there is no filter. */
  filter?: number;
  /** The folder in which the command starts. */
  cwd: string;
}>;

/** The bubblewrap arguments for a sandbox. */
export function sandboxArgs(box: SandboxMounts, program: readonly string[]): string[] {
  return [...sandboxOptions(box), "--", ...program];
}

/**
 * The bubblewrap arguments when the options are passed through this descriptor. The options are not in the command
 * line, because command lines are visible to all users, and the environment of the sandbox may be private.
 */
export function handedArgs(descriptor: number, program: readonly string[]): string[] {
  return ["--args", String(descriptor), "--", ...program];
}

/** The bubblewrap options in the form that is sent through the descriptor. */
export const handedOptions = (box: SandboxMounts): string =>
  sandboxOptions(box)
    .map((each) => `${each}\0`)
    .join("");

/**
 * The bubblewrap options: everything is read-only by default; the sandbox has its own processes, devices and users; no
 * network unless allowed; no capabilities, no terminal. The sandbox ends with its parent.
 */
function sandboxOptions(box: SandboxMounts): string[] {
  const mounts: Mount[] = [
    { path: "/", args: ["--ro-bind", "/", "/"] },
    { path: "/dev", args: ["--dev", "/dev"] },
    { path: "/proc", args: ["--proc", "/proc"] },
    // Root could write these paths even in its own pid namespace, and some of them start programs outside of the
    // sandbox.
    ...KERNEL.map((path): Mount => ({ path, args: ["--ro-bind-try", path, path] })),
    // Hides the session keyring of the person who started subcrew, including the names of keys.
    ...KEYS.filter((path) => existsSync(path)).map((path): Mount => ({ path, args: ["--ro-bind", "/dev/null", path] })),
    ...EMPTIED.map((path): Mount => ({ path, args: ["--tmpfs", path] })),
    ...box.kept.map((path): Mount => ({ path, args: ["--ro-bind-try", path, path] })),
    ...box.hiddenFolders.map((path): Mount => ({ path, args: ["--tmpfs", path] })),
    ...box.hiddenFiles.map((path): Mount => ({ path, args: ["--ro-bind", "/dev/null", path] })),
    ...[...box.writable, ...box.pinned].map((path): Mount => ({ path, args: ["--bind", path, path] })),
    ...box.readOnly.map((path): Mount => ({ path, args: ["--ro-bind", path, path] })),
  ];
  return [
    ...words("--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try"),
    ...(box.network ? [] : ["--unshare-net"]),
    ...words("--die-with-parent --new-session --cap-drop ALL --clearenv"),
    ...(box.filter === undefined ? [] : ["--seccomp", String(box.filter)]),
    ...Object.entries(box.env).flatMap(([name, value]) => ["--setenv", name, value]),
    // Deeper paths are mounted later, so that they are not covered by their parents.
    ...mounts.toSorted((one, other) => depthOf(one.path) - depthOf(other.path)).flatMap(({ args }) => args),
    // These come after the hidden paths, because a writable path may be inside of a hidden one.
    ...box.hiddenFolders.flatMap((path) => ["--remount-ro", path]),
    "--chdir",
    box.cwd,
  ];
}

/** Folders that are empty in every sandbox. */
export const EMPTIED: readonly string[] = ["/tmp", "/var/tmp", "/run"];

const KEYS = words("/proc/keys /proc/key-users");
const KERNEL = words("/proc/sys /proc/sysrq-trigger /proc/irq /proc/bus /proc/fs /proc/acpi /proc/scsi");

type Mount = Readonly<{ path: string; args: readonly string[] }>;

function depthOf(path: string): number {
  return path.split(sep).filter((step) => step !== "").length;
}
