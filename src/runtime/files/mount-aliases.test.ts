import { expect, test } from "vitest";
import { mountAliases } from "./mount-aliases.ts";

const table = [
  "22 1 8:1 / / rw - ext4 /dev/sda1 rw",
  "23 22 8:2 / /home rw - ext4 /dev/sda2 rw",
  "24 22 0:5 / /proc rw - proc proc rw",
];
const state = "/home/me/.subcrew";

test.each<[string, string, string[]]>([
  ["a mount of the folder itself", "/me/.subcrew /ws/bind", ["/ws/bind"]],
  ["a mount of a folder above it", "/me /ws/me", ["/ws/me/.subcrew"]],
  ["a mount of the whole device", "/ /mnt/disk", ["/mnt/disk/me/.subcrew"]],
  ["a mount of a part of it", "/me/.subcrew/runs /ws/runs", ["/ws/runs"]],
  ["a mount at a path with a blank", "/me/.subcrew /ws/a\\040b", ["/ws/a b"]],
  ["a mount of another folder", "/me/.subcrew-other /ws/bind", []],
])("the mount %s shows the state folder at another path", (_, mounted, aliases) => {
  expect(mountAliases(state, [...table, `30 22 8:2 ${mounted} rw - ext4 /dev/sda2 rw`].join("\n"))).toEqual(aliases);
});

test("a mount of another device, and an unreadable list of mounts, reveal no other path", () => {
  expect(mountAliases(state, [...table, "30 22 8:1 /me/.subcrew /ws/bind rw - ext4 x rw"].join("\n"))).toEqual([]);
  expect(mountAliases(state, "")).toEqual([]);
  expect(mountAliases(state, "odd\n\n1 2 3")).toEqual([]);
});
