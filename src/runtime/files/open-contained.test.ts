import { execFileSync, fork } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { folderContains } from "./folder-contains.ts";
import { isOpenRefusal, openInside, openWalked, quoted, rootOf } from "./open-contained.ts";

const CANARY = "canary-3f9a";

/** The folders of the reliability cases: a workspace, a secret outside, and a sibling whose name begins alike. */
function places(): { ws: string; out: string; all: string } {
  const all = tempFolder({
    "ws/a.txt": "inside",
    "ws/src/deep/b.txt": "deep",
    "outside/secret.txt": CANARY,
    "ws-evil/secret.txt": CANARY,
  });
  return { all, ws: join(all, "ws"), out: join(all, "outside") };
}

/** The text of the opened file, or the code of the refusal. */
async function read(root: string, path: string): Promise<string> {
  try {
    const { handle, kind } = await openInside(root, path);
    const text = kind === "file" ? await handle.readFile("utf8") : kind;
    await handle.close();
    return text;
  } catch (error) {
    if (!isOpenRefusal(error)) throw error;
    return error.code;
  }
}

async function message(root: string, path: string): Promise<string> {
  return openInside(root, path).then(
    () => "opened",
    (error: unknown) => (error as Error).message,
  );
}

test("files and folders in the workspace are opened with their relative path", async () => {
  const { ws } = places();
  const { handle, path, real, kind } = await openInside(ws, "src/../src/deep/b.txt");
  await handle.close();
  expect({ path, real, kind }).toEqual({ path: "src/deep/b.txt", real: join(ws, "src/deep/b.txt"), kind: "file" });
  expect(await read(ws, ".")).toEqual("directory");
  expect(await read(ws, join(ws, "a.txt"))).toEqual("inside");
});

test("PATH-01: parents, absolute paths and a sibling folder with the same prefix count as outside", async () => {
  const { ws, out, all } = places();
  const attempts = [
    "..",
    "../outside/secret.txt",
    "src/../../outside/secret.txt",
    join(out, "secret.txt"),
    "../ws-evil/secret.txt",
    join(all, "ws-evil/secret.txt"),
    "/etc/passwd",
    "/",
  ];
  for (const attempt of attempts) expect([attempt, await read(ws, attempt)]).toEqual([attempt, "OUTSIDE"]);
});

test("PATH-01: missing and existing files outside are refused with the same message", async () => {
  const { ws, out } = places();
  symlinkSync(out, join(ws, "d"));
  symlinkSync(join(out, "nothing"), join(ws, "dangling"));
  symlinkSync(join(out, "secret.txt"), join(ws, "link"));
  const alike = async (one: string, other: string): Promise<void> =>
    expect((await message(ws, one)).replace(one, "X")).toEqual((await message(ws, other)).replace(other, "X"));
  await alike("../outside/secret.txt", "../outside/nothing.txt");
  await alike("d/secret.txt", "d/nothing.txt");
  await alike("link", "dangling");
});

test("PATH-02: links that lead out of the workspace are refused, links that stay inside are followed", async () => {
  const { ws, out } = places();
  symlinkSync(join(out, "secret.txt"), join(ws, "l"));
  symlinkSync(out, join(ws, "d"));
  symlinkSync("../../../outside", join(ws, "src/deep/up"));
  symlinkSync("src/deep", join(ws, "short"));
  for (const path of ["l", "d", "d/secret.txt", "src/deep/up/secret.txt"])
    expect(await read(ws, path)).toEqual("OUTSIDE");
  expect(await read(ws, "short/b.txt")).toEqual("deep");
  const { handle, path } = await openInside(ws, "short/b.txt");
  await handle.close();
  expect(path).toEqual("src/deep/b.txt");
});

test("PATH-03: a folder that is constantly swapped for a link never leaks the secret", {
  timeout: 600_000,
}, async () => {
  const { ws, out, all } = places();
  writeFileSync(join(out, "f"), CANARY);
  mkdirSync(join(ws, "x"));
  writeFileSync(join(ws, "x/f"), "inside");
  const program = join(all, "swap.cjs");
  writeFileSync(
    program,
    `const { renameSync, symlinkSync } = require("node:fs");
     process.chdir(${JSON.stringify(ws)});
     symlinkSync(${JSON.stringify(out)}, "link");
     process.on("disconnect", () => process.exit());
     const swap = () => {
       for (let n = 0; n < 500; n++) {
         renameSync("x", "folder"); renameSync("link", "x");
         renameSync("x", "link"); renameSync("folder", "x");
       }
       setImmediate(swap);
     };
     process.send("ready"); swap();`,
  );
  const helper = fork(program, { execArgv: [] });
  onTestFinished(() => void helper.kill("SIGKILL"));
  await new Promise((ready) => helper.once("message", ready));
  const root = await rootOf(ws);
  const seen = new Map<string, number>();
  const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  const walked = async (): Promise<string> => {
    const { handle } = await openWalked(root, "x/f");
    const text = await handle.readFile("utf8");
    await handle.close();
    return text;
  };
  // On a busy machine the other process may not run during many reads, so the loop runs until both variants were seen.
  for (let n = 0; n < 5_000 || !(seen.has("inside") && seen.has("OUTSIDE")); n += 50) {
    const each = Array.from({ length: 50 }, () => read(ws, "x/f"));
    const others = Array.from({ length: 10 }, () => walked().catch(() => "refused"));
    for (const what of await Promise.all([...each, ...others])) count(what);
    expect([helper.exitCode, helper.signalCode]).toEqual([null, null]);
  }
  expect(seen.has(CANARY)).toBe(false);
});

test("PATH-05: a workspace that is reached through a link works under both spellings", async () => {
  const { ws, all } = places();
  const link = join(all, "project");
  symlinkSync(ws, link);
  for (const root of [link, `${link}/`, `${ws}/`]) {
    for (const path of ["a.txt", join(ws, "a.txt")]) expect(await read(root, path)).toEqual("inside");
  }
  expect(await read(link, join(link, "a.txt"))).toEqual("inside");
  expect(await read(link, join(all, "outside/secret.txt"))).toEqual("OUTSIDE");
});

test("PATH-07: pipes, sockets, devices and what is linked from /proc are refused at once", async () => {
  const { ws } = places();
  execFileSync("mkfifo", [join(ws, "pipe")]);
  symlinkSync("pipe", join(ws, "to-pipe"));
  symlinkSync("/dev/zero", join(ws, "zero"));
  symlinkSync("/proc/self/environ", join(ws, "environ"));
  const server = createServer().listen(join(ws, "socket"));
  onTestFinished(() => void server.close());
  await new Promise((listening) => server.once("listening", listening));
  const start = performance.now();
  expect(await read(ws, "pipe")).toEqual("SPECIAL");
  expect(await read(ws, "to-pipe")).toEqual("SPECIAL");
  expect(await read(ws, "socket")).toEqual("SPECIAL");
  expect(await read(ws, "zero")).toEqual("OUTSIDE");
  expect(await read(ws, "environ")).toEqual("OUTSIDE");
  expect(await message(ws, "pipe")).toContain("not a regular file");
  expect(performance.now() - start).toBeLessThan(30_000); // no process ever writes into the pipe
});

test("PATH-09: strange names are taken literally or refused with a message", async () => {
  const { ws } = places();
  const literal = ["-rf", "~", "$HOME", "%2e%2e", "*", "a\nb", "dots...", "space ", "\u001b[31m"];
  for (const name of literal) {
    writeFileSync(join(ws, name), name);
    expect(await read(ws, name)).toEqual(name);
  }
  expect(await read(ws, "a\0b")).toEqual("BAD_PATH");
  expect(await message(ws, "x".repeat(300))).toContain("too long");
  expect(await message(ws, "x/".repeat(5_000))).toContain("too long");
  expect(await message(ws, "~/.ssh")).toEqual('"~/.ssh" does not exist: a part of the path is a file, not a folder');
  expect(await message(ws, "no\nsuch")).toEqual('"no␊such" does not exist');
});

test("PATH-10: a loop of links is refused", async () => {
  const { ws } = places();
  symlinkSync("loop2", join(ws, "loop1"));
  symlinkSync("loop1", join(ws, "loop2"));
  expect(await read(ws, "loop1")).toEqual("OUTSIDE");
  expect(await read(ws, "loop1/x")).toEqual("OUTSIDE");
});

test("PATH-13: a hard link is read like any other file", async () => {
  const { ws } = places();
  linkSync(join(ws, "a.txt"), join(ws, "twin"));
  expect(await read(ws, "twin")).toEqual("inside");
});

test("a folder walk refuses a link that replaced a folder", async () => {
  const { ws, out } = places();
  symlinkSync(out, join(ws, "d"));
  const root = await rootOf(ws);
  await expect(openWalked(root, "d")).rejects.toThrow();
  await expect(openWalked(root, "d/secret.txt")).rejects.toThrow("outside");
});

test("a missing working folder is reported", async () => {
  await expect(openInside("/nowhere/at/all", "a")).rejects.toThrow(
    'the working folder "/nowhere/at/all" no longer exists',
  );
});

test.each([
  ["/ws", "/ws", true],
  ["/ws", "/ws/a", true],
  ["/ws", "/ws-evil", false],
  ["/ws", "/ws/..a", true],
  ["/ws", "/", false],
  ["/", "/anything", true],
])("in %s, the path %s is %s", (folder, path, inside) => {
  expect(folderContains(folder, path)).toBe(inside);
});

test("a quoted path is short and stays on one line", () => {
  expect(quoted("a\n\u001b[2J")).toEqual('"a␊␛[2J"');
  expect(quoted("x".repeat(5_000))).toHaveLength(205);
});
