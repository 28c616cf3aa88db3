import { spawnSync } from "node:child_process";
import { linkSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { folderContains } from "../../src/runtime/files/folder-contains.ts";
import { isOpenRefusal, openInside, rootOf } from "../../src/runtime/files/open-contained.ts";
import { openContainedPath } from "../../src/runtime/files/write-contained.ts";
import type { Tries } from "./mutate.ts";

const NAMES = ["a", "b", "c", "é", "a b"];
const name = fc.constantFrom(...NAMES);
/** Targets of links: inside, outside, missing, in circles. */
const target = fc.oneof(
  fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant("..") }, { weight: 3, arbitrary: name }), {
    minLength: 1,
    maxLength: 4,
  }),
  fc.constantFrom(
    ["/", "OUT"],
    ["/", "OUT", "secret"],
    ["/", "WS"],
    ["/", "WS", "a"],
    ["/", "proc", "self", "root"],
    ["/", "etc"],
  ),
);
const entry = fc.record({
  at: fc.array(name, { minLength: 1, maxLength: 2 }),
  kind: fc.constantFrom("file", "folder", "link", "link", "hard"),
  target,
});
const step = fc.oneof(
  { weight: 8, arbitrary: name },
  { weight: 2, arbitrary: fc.constantFrom("..", ".", "") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("secret", "OUT", "WS", "%2e%2e", "..\\", "~", "\u2025", "a\n", " ..", "proc"),
  },
);
const path = fc
  .tuple(
    fc.constantFrom("", "", "", "/", "./", "../", "../WS/", "../OUT/", "ABS/", "//"),
    fc.array(step, { maxLength: 4 }),
  )
  .map(([start, steps]) => start + steps.join("/"));

export type Trees = Readonly<{
  folder: string;
  /**
   * The program bubblewrap. With it, a check runs in a file system that contains the workspace and no other files of a
   * user.
   */
  bwrap?: string;
}>;

/**
 * FUZZ-02: with any paths and links, nothing outside of the workspace is opened or could be written. The kernel
 * confirms it: an opened file has to exist where only the workspace is mounted.
 */
export async function pathsStayInside({ folder, bwrap }: Trees, tries: Tries): Promise<number> {
  const [workspace, outside] = [join(folder, "WS"), join(folder, "OUT")];
  let opened = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { minLength: 6, maxLength: 14 }),
      fc.array(path, { minLength: 15, maxLength: 30 }),
      async (tree, paths) => {
        for (const each of [workspace, outside]) {
          rmSync(each, { recursive: true, force: true });
          mkdirSync(each, { recursive: true });
        }
        writeFileSync(join(outside, "secret"), "CANARY");
        for (const one of tree) attempt(() => grow(one, { workspace, outside }));
        symlinkSync("/dev/null", join(workspace, "device"));
        const root = await rootOf(workspace);
        const allowed: string[] = [];
        for (const given of [...paths, "device"]) {
          const asked = given.replace(/^ABS\//, `${workspace}/`);
          const found = await openInside(root, asked).catch((error: unknown) => refusedAt(error, workspace, asked));
          if (found) {
            const text = found.kind === "file" ? await found.handle.readFile("utf8") : "";
            await found.handle.close();
            expect(text, asked).not.toContain("CANARY");
            expect(folderContains(workspace, found.real), `${asked} is ${found.real}`).toBe(true);
            allowed.push(resolve(workspace, asked)); // `..` is resolved as it is written, before any link is followed
          }
          const spot = await openContainedPath(root, asked).catch(refused);
          if (!spot) continue;
          expect(folderContains(workspace, spot.real), `${asked} would be written at ${spot.real}`).toBe(true);
          await spot.close();
        }
        opened += allowed.length;
        if (bwrap !== undefined && allowed.length > 0) expect(missingAlone(bwrap, workspace, allowed)).toEqual([]);
      },
    ),
    tries,
  );
  return opened;
}

/**
 * FUZZ-02: a folder that is swapped for a link to the outside at any moment of the opening reveals nothing. Returns how
 * often the file inside was read and how often the path was refused.
 */
export async function swapsStayInside(
  { folder }: Trees,
  { numRuns }: Tries,
): Promise<{ read: number; refused: number }> {
  const [workspace, outside] = [join(folder, "WS"), join(folder, "OUT")];
  for (const each of [join(workspace, "a"), outside]) mkdirSync(each, { recursive: true });
  writeFileSync(join(outside, "f"), "CANARY");
  writeFileSync(join(workspace, "a", "f"), "inside");
  symlinkSync(outside, join(workspace, "b"));
  const root = await rootOf(workspace);
  const seen = { read: 0, refused: 0 };
  let next: NodeJS.Immediate;
  const swap = (): void => {
    for (const [from, to] of ["a c", "b a", "c b"].map((pair) => pair.split(" ")))
      renameSync(join(workspace, from!), join(workspace, to!));
    next = setImmediate(swap);
  };
  swap();
  try {
    for (let at = 0; at < numRuns; at++) {
      const found = await openInside(root, "a/f").catch(refused);
      if (!found) {
        seen.refused++;
        continue;
      }
      const text = await found.handle.readFile("utf8");
      await found.handle.close();
      expect(text).toBe("inside");
      seen.read++;
    }
  } finally {
    clearImmediate(next!);
  }
  return seen;
}

/** Checks that the refusal of a path that leads out says so, whether it is a file, a folder or a device. */
function refusedAt(error: unknown, workspace: string, asked: string): undefined {
  refused(error);
  const real = attempt(() => realpathSync.native(resolve(workspace, asked)));
  if (real !== undefined && !folderContains(workspace, real) && isOpenRefusal(error))
    expect(error.code, `${asked} is ${real}`).toMatch(/^(?:OUTSIDE|BAD_PATH)$/);
}

type Entry = Readonly<{ at: readonly string[]; kind: string; target: readonly string[] }>;

function grow({ at, kind, target }: Entry, { workspace, outside }: { workspace: string; outside: string }): void {
  const file = join(workspace, ...at);
  const [first, ...rest] = target;
  const place =
    first === "/" ? `/${rest.join("/")}`.replace(/^\/OUT/, outside).replace(/^\/WS/, workspace) : target.join("/");
  mkdirSync(dirname(file), { recursive: true });
  if (!folderContains(workspace, realpathSync.native(dirname(file)))) return; // the link led out, so the new file is not part of the tree
  if (kind === "folder") mkdirSync(file);
  else if (kind === "file") writeFileSync(file, "inside");
  else if (kind === "link") symlinkSync(place, file);
  else linkSync(join(workspace, ...at.slice(0, -1), "a"), file);
}

/** The paths among these that do not exist where only the workspace is mounted. */
function missingAlone(bwrap: string, workspace: string, paths: readonly string[]): string[] {
  const look = 'while IFS= read -r -d "" p; do [ -e "$p" ] || printf "%s\\0" "$p"; done';
  const args = [
    ...["--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
    ...["--symlink", "usr/bin", "/bin", "--ro-bind", workspace, workspace, "--unshare-all", "--chdir", workspace],
    ...["/usr/bin/bash", "-c", look],
  ];
  const { stdout, stderr, status } = spawnSync(bwrap, args, { input: paths.map((one) => `${one}\0`).join("") });
  if (status !== 0) throw new Error(stderr.toString());
  return stdout.toString().split("\0").slice(0, -1);
}

function refused(error: unknown): undefined {
  if (!isOpenRefusal(error)) throw error;
  return undefined;
}

/** The result of a function; `undefined` if it throws. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
