import { beforeAll, describe, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../needs.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { coveredCommands, coveredPairs, rulesOnlyRead } from "./allow-rules.ts";
import { firstThatChanges, isReadOnly, pairs, readersOnlyRead, readOnlyCommands, watch } from "./commands.ts";
import { pathsStayInside, swapsStayInside } from "./paths.ts";

const seed = 20_261_116;
let bwrap: Need;
let strace: Need;
beforeAll(async () => {
  bwrap = await needs("bwrap");
  strace = await needs("strace");
}, needsTimeout);

describe("FUZZ-02: paths", () => {
  test("with any links never lead out of the workspace", async () => {
    expect(await pathsStayInside({ folder: tempFolder() }, { numRuns: 40, seed })).toBeGreaterThan(100);
  });

  test("whose folder is swapped for a link during opening lead to a file inside, or nowhere", async () => {
    const { read, refused } = await swapsStayInside({ folder: tempFolder() }, { numRuns: 300 });
    expect([read > 0, refused > 0]).toEqual([true, true]);
  });

  test("that are opened also exist in a sandbox that contains only the workspace", async (ctx) => {
    if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
    const opened = await pathsStayInside({ folder: tempFolder(), bwrap: bwrap.path }, { numRuns: 15, seed: seed + 1 });
    expect(opened).toBeGreaterThan(30);
  });
});

describe("FUZZ-04: commands", () => {
  const commands = readOnlyCommands({ numRuns: 4_000, seed });

  test("that are judged read-only change nothing, connect to nothing and start no other program", (ctx) => {
    if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
    if (strace.missing !== undefined) return ctx.skip(strace.missing);
    expect(commands.length).toBeGreaterThan(50);
    readersOnlyRead(commands.slice(0, 40), { folder: tempFolder(), bwrap: bwrap.path, strace: strace.path });
  });

  test("that are judged read-only change nothing, for every program with every word that makes some program write", (ctx) => {
    if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
    const judged = pairs().filter(isReadOnly);
    expect(judged.length).toBeGreaterThan(200);
    expect(firstThatChanges(judged, { folder: tempFolder, bwrap: bwrap.path })).toBeUndefined();
  });

  test("that write, connect or start something are detected", (ctx) => {
    if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
    if (strace.missing !== undefined) return ctx.skip(strace.missing);
    const at = { folder: tempFolder(), bwrap: bwrap.path, strace: strace.path };
    const { changed, started, sockets } = watch(["touch new", "cat < /dev/tcp/127.0.0.1/1"], at);
    expect({ changed, started: started.includes("touch"), sockets: sockets.length > 0 }).toEqual({
      changed: true,
      started: true,
      sockets: true,
    });
  });
});

describe("FUZZ-09: rules for commands that end in *", () => {
  const covered = coveredCommands({ numRuns: 2_000, seed });

  test("cover no command that changes a file", (ctx) => {
    if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
    expect(covered.length).toBeGreaterThan(100);
    rulesOnlyRead(covered, { folder: tempFolder, bwrap: bwrap.path });
  });

  test("cover no word that makes one of the programs write", (ctx) => {
    if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
    const pairs = coveredPairs("few");
    expect(pairs.length).toBeGreaterThan(50);
    rulesOnlyRead(pairs, { folder: tempFolder, bwrap: bwrap.path });
  });

  test("the check of this test detects a command that writes", (ctx) => {
    if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
    // A command that is stopped before it writes changes nothing: on a busy machine one took longer than a second.
    const at = { folder: tempFolder, bwrap: bwrap.path, seconds: 60 };
    const some = ["ls", "git log -1", "git log --output=new", "sort f1"];
    expect(() => rulesOnlyRead(some, at)).toThrow(/file: git log --output=new$/);
  });
});
