import { lifts } from "../../core/policy/judge-call.ts";
import { protectedPart } from "../../core/policy/protected-paths.ts";
import type { Rule } from "../../core/rules/rule.ts";
import { folderContains } from "../files/folder-contains.ts";
import { secretPlaces } from "../files/secret-places.ts";
import { HANDED } from "./child.ts";
import type { GuardedRoot } from "./command-record.ts";
import { hostSockets, isShown } from "./host-sockets.ts";
import type { CommandScope, GuardedCommand, InFlight } from "./in-flight.ts";
import { mountablePlaces } from "./mountable-places.ts";
import { foldersAbove } from "./protected-mounts.ts";
import { EMPTIED, type SandboxMounts } from "./sandbox-args.ts";
import { seccompFilter } from "./seccomp.ts";

/** The settings that decide what the commands of one task see and may write. */
export type MountSetting = Readonly<{
  /** A name for the run and the task, which an environment variable passes to the programs that the task starts. */
  name: string;
  /** The folder in which commands start and which they may write; a real path. */
  cwd: string;
  writable: readonly string[];
  /** The writable folders within the task's lease (the files that it declared to write); absent: all of them. */
  leased?: readonly string[];
  /** Paths that commands may read, even inside hidden folders. */
  seen?: readonly string[];
  network(): boolean;
  inFlight: InFlight;
  /** How permission rules, and the checks of protected files, name a writable folder. */
  rootAt(folder: string): Omit<GuardedRoot, "skipped">;
  /** Registers git repositories that a scan found. True: `rootAt` may have changed. */
  learn?(gitPaths: readonly string[]): boolean;
  /** The user's current rules that may allow writing to protected places. */
  allow: CommandScope["allow"];
  /** Home folders whose secrets are hidden, and other hidden paths. */
  homes: readonly string[];
  hidden(): Promise<readonly string[]>;
  /** Files inside hidden folders that commands may read. */
  handed?(): readonly string[];
}>;

/** What a command sees and may write in its sandbox, and the guard over protected files. */
export async function mountsFor(
  setting: MountSetting,
  env: SandboxMounts["env"],
  marker: string,
): Promise<{ box: SandboxMounts; guarded: GuardedCommand }> {
  const { cwd, writable: all, leased, seen = [], homes, hidden, allow, rootAt } = setting;
  const network = setting.network();
  const secrets = mountablePlaces(secretPlaces(homes, await hidden()));
  const hiddenFolders = secrets.folders.filter((path) => !all.includes(path));
  const inside = [...hiddenFolders, ...secrets.files].filter((path) => all.some((root) => folderContains(root, path)));
  // A lease (the files that a task declared to write) does not make hidden paths visible.
  const wanted = leased?.filter((folder) => !inside.some((path) => folderContains(path, folder))) ?? all;
  // A task in a protected folder, or with a lease for one, still may not write it.
  const writableRoots = (): Omit<GuardedRoot, "skipped">[] =>
    wanted.map(rootAt).filter((root) => !isShut(root, allow()));
  const roots = writableRoots();
  const writable = roots.map(({ root }) => root);
  const learn = (gitPaths: readonly string[]): typeof roots => (setting.learn?.(gitPaths) ? writableRoots() : roots);
  const guarded = await setting.inFlight.begin({ run: setting.name, marker, roots, allow, learn });
  // folders that name resolution needs, and programs on systems that have them in /run
  const kept = [
    "/run/current-system",
    ...seen,
    ...(setting.handed?.() ?? []),
    ...all.filter((folder) => !writable.includes(folder)),
    ...(network ? ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"] : []),
  ];
  const view = { emptied: [...EMPTIED, ...hiddenFolders], shown: [...writable, ...kept] };
  const isOwn = (path: string): boolean => network && all.some((root) => folderContains(root, path));
  const sockets = hostSockets().filter((path) => isShown(path, view) && !isOwn(path));
  const isHidden = (path: string): boolean =>
    secrets.files.includes(path) || hiddenFolders.some((folder) => folderContains(folder, path));
  const readOnly = guarded.readOnly.filter((path) => !isHidden(path));
  const box: SandboxMounts = {
    cwd,
    env,
    network,
    writable,
    readOnly,
    pinned: pinnedIn(writable, { readOnly, pinned: guarded.pinned }, inside),
    hiddenFolders,
    hiddenFiles: [...new Set([...secrets.files, ...sockets])],
    kept,
    ...(seccompFilter(process.arch) && { filter: HANDED + 1 }),
  };
  return { box, guarded };
}

/** True for a folder that is protected itself and that no rule allows to write. */
function isShut(root: Omit<GuardedRoot, "skipped">, allow: readonly Rule[]): boolean {
  return protectedPart(root.place, root) !== undefined && !lifts({ ...root, allow }, root.named);
}

/**
 * Parents of hidden and protected paths are mounted on themselves, so that they cannot be renamed to reveal the paths.
 */
function pinnedIn(
  writable: readonly string[],
  { readOnly, pinned }: Pick<GuardedCommand, "readOnly" | "pinned">,
  hidden: readonly string[],
): string[] {
  const covered = (path: string): boolean => [...readOnly, ...hidden].some((cover) => folderContains(cover, path));
  const above = hidden.flatMap((path) => writable.flatMap((root) => foldersAbove(root, path)));
  return [...new Set([...pinned, ...above])].filter((path) => !covered(path));
}
