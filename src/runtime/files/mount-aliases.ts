import { readFileSync } from "node:fs";
import { join } from "node:path";
import { folderContains } from "./folder-contains.ts";

/** A mounted file system: its device, the folder of it that is mounted, and where. */
type Mount = Readonly<{ device: string; root: string; point: string }>;

/**
 * Other paths at which mounts show a real path or a part of it, as after `mount --bind`: `realpath` does not show that
 * two such paths are the same file. `table`: the kernel's list of mounts.
 */
export function mountAliases(path: string, table: string): string[] {
  const mounts = table.split("\n").flatMap(mountIn);
  // Of mounts at the same place, the last one is visible.
  const own = mounts
    .filter(({ point }) => folderContains(point, path))
    .toSorted((one, other) => one.point.length - other.point.length)
    .at(-1);
  if (own === undefined) return [];
  const inner = join(own.root, path.slice(own.point.length));
  const aliases = mounts.flatMap(({ device, root, point }) => {
    if (device !== own.device) return [];
    if (folderContains(root, inner)) return [join(point, inner.slice(root.length))];
    return folderContains(inner, root) ? [point] : [];
  });
  return [...new Set(aliases)].filter((alias) => !folderContains(path, alias));
}

/** The paths at which something is mounted. */
export function mountPoints(table: string): ReadonlySet<string> {
  return new Set(table.split("\n").flatMap((line) => mountIn(line).map(({ point }) => point)));
}

/** A line such as `36 35 98:0 /folder /mnt rw - ext4 /dev/sda rw`; blanks in paths are written as `\040`. */
function mountIn(line: string): Mount[] {
  const [, , device, root, point] = line.split(" ");
  if (device === undefined || root === undefined || point === undefined) return [];
  return [{ device, root: unescaped(root), point: unescaped(point) }];
}

const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));

/** The list of mounts of this process; empty where the system has none. */
export function mountTable(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return ""; // this system has no list of mounts
  }
}
