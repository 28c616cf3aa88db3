import { symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { hostSockets, isShown } from "./host-sockets.ts";

test("each socket with a path is found once, at its real path; sockets without a path, or whose file is gone, are not", async () => {
  const folder = tempFolder({ "real/file": "" });
  symlinkSync("real", join(folder, "link"));
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(join(folder, "real/a b.sock"), resolve));
  onTestFinished(() => void server.close());
  const line = (path: string): string => `00000000ed9bbad2: 00000002 00000000 00010000 0001 01 3650511${path}`;
  const paths = [
    "",
    " @abstract",
    ` ${folder}/link/a b.sock`,
    ` ${folder}/real/a b.sock`,
    ` ${folder}/real/file`,
    " /gone",
  ];
  const listed = ["Num       RefCount Protocol Flags    Type St Inode Path", ...paths.map(line)].join("\n");
  expect(hostSockets(listed)).toEqual([join(folder, "real/a b.sock")]);
});

test("whether a path is visible depends on the nearest hidden or shown folder above it", () => {
  const view = { emptied: ["/tmp", "/home/me/.state"], shown: ["/tmp/own", "/home/me/.state/tree"] };
  const paths = ["/var/x", "/tmp/x", "/tmp/own/x", "/tmp/owner/x", "/home/me/.state/x", "/home/me/.state/tree/x"];
  expect(paths.filter((path) => isShown(path, view))).toEqual(["/var/x", "/tmp/own/x", "/home/me/.state/tree/x"]);
});
