import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { folderContains } from "../files/folder-contains.ts";

/**
 * The sockets that programs of this machine listen on, by their paths. A mount that is read-only keeps nobody from connecting to
 * one, and whoever reaches the socket of a container engine, a key agent or a desktop has left the sandbox through it.
 */
export function hostSockets(listed: string = listedSockets()): string[] {
  const paths = listed.split("\n").flatMap((line) => BOUND.exec(line)?.[1] ?? []);
  return [...new Set([...new Set(paths)].flatMap(realSocket))];
}

/** Where a socket really is; nothing when none is there any more, or none that this user could reach. */
function realSocket(path: string): string[] {
  try {
    return lstatSync(path).isSocket() ? [realpathSync.native(path)] : [];
  } catch {
    return [];
  }
}

/** Sockets that somebody connected through bear the path of the one they came from, so that each can be there many times. */
const BOUND = /^[0-9a-f]+: (?:[0-9A-F]+ ){3}[0-9A-F]+ [0-9A-F]+ +\d+ (\/.*)$/;

function listedSockets(): string {
  try {
    return readFileSync("/proc/net/unix", "utf8");
  } catch {
    return "";
  }
}

/** Whether a program sees a path of whose folders some are emptied for it and some shown all the same: the nearest counts. */
export function isShown(path: string, { emptied, shown }: Record<"emptied" | "shown", readonly string[]>): boolean {
  const nearest = (folders: readonly string[]): number =>
    Math.max(-1, ...folders.filter((folder) => folderContains(folder, path)).map((folder) => folder.length));
  return nearest(shown) >= nearest(emptied);
}
