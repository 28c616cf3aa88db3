import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { folderContains } from "../files/folder-contains.ts";

/**
 * Paths of Unix sockets that programs of this machine listen on. A read-only mount does not prevent connecting to
 * them, and the socket of a container engine, a key agent or a desktop is a way out of the sandbox.
 */
export function hostSockets(listed: string = listedSockets()): string[] {
  const paths = listed.split("\n").flatMap((line) => BOUND.exec(line)?.[1] ?? []);
  return [...new Set([...new Set(paths)].flatMap(realSocket))];
}

/** The real path of a socket; `undefined` when it is gone or not accessible to this user. */
function realSocket(path: string): string[] {
  try {
    return lstatSync(path).isSocket() ? [realpathSync.native(path)] : [];
  } catch {
    return [];
  }
}

/**
 * Matches a line of `/proc/net/unix` about a socket with a path. A path can occur many times, because accepted
 * connections have the path of their listener.
 */
const BOUND = /^[0-9a-f]+: (?:[0-9A-F]+ ){3}[0-9A-F]+ [0-9A-F]+ +\d+ (\/.*)$/;

function listedSockets(): string {
  try {
    return readFileSync("/proc/net/unix", "utf8");
  } catch {
    return "";
  }
}

/** Whether a path is visible in the sandbox: the nearest hidden or shown folder above it decides. */
export function isShown(path: string, { emptied, shown }: Record<"emptied" | "shown", readonly string[]>): boolean {
  const nearest = (folders: readonly string[]): number =>
    Math.max(-1, ...folders.filter((folder) => folderContains(folder, path)).map((folder) => folder.length));
  return nearest(shown) >= nearest(emptied);
}
