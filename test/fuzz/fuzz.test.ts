import { describe, expect, test } from "vitest";
import { dialects } from "../../src/formats/table.ts";
import { addressesAreJudgedAlike } from "./addresses.ts";
import { isReadOnly } from "./commands.ts";
import { bansAreKept, filesAreRead, repairsOnlyNarrow, settingsAreRead } from "./files.ts";
import {
  inputsAreJudged,
  journalsAreRead,
  keysAreGone,
  secretsAreGone,
  splitsDoNotMatter,
  terminalsAreSafe,
} from "./words.ts";

/** The chance of a change is always the same; the soak takes another one, and says which. */
const seed = 20_261_116;

describe("FUZZ-01: agent files", () => {
  test("bent in any way are read or refused by every dialect", () => filesAreRead({ numRuns: 1_500, seed }));
  test("that have to be repaired never have more tools than they name, or than those that only look", () =>
    repairsOnlyNarrow({ numRuns: 400, seed }));
  test("that have stray lines keep what they forbid", () => bansAreKept({ numRuns: 400, seed }));
  test("and settings that are bent are read or refused", () => settingsAreRead({ numRuns: 300, seed }));
});

test("FUZZ-03: addresses are judged alike in every spelling, and no special one passes", () =>
  addressesAreJudgedAlike({ numRuns: 1_000, seed }));

describe("FUZZ-05: readers", () => {
  test("take a journal with anything in it up to there, or call it damaged", () =>
    journalsAreRead({ numRuns: 500, seed }));
  test("hear the same however the wire cuts events and messages", () => splitsDoNotMatter({ numRuns: 500, seed }));
  test("of plans, inputs, rules and templates refuse in our own words, and fill once", () =>
    inputsAreJudged({ numRuns: 500, seed }));
});

test("FUZZ-06: no text drives a terminal, in whatever pieces it comes", () =>
  terminalsAreSafe({ numRuns: 1_500, seed }));

test("FUZZ-07: no secret survives, in whatever spelling and pieces it comes", () =>
  secretsAreGone({ numRuns: 800, seed }));

test("FUZZ-07: no private key survives, in whatever case, escapes and pieces it comes", () =>
  keysAreGone({ numRuns: 400, seed }));

test("a property that is broken is found", () => {
  expect(() => filesAreRead({ numRuns: 1, seed }, () => expect(1).toBe(2))).toThrow();
});

describe("what was found", () => {
  test("a stray line below a list of tools adds nothing to it", () => {
    for (const stray of ["*", "bash", "x: a: b\nbash"]) {
      const file = `---\nname: careful\ndescription: is careful\ntools: read_file, grep_files\n${stray}\n---\nBe careful.\n`;
      const { agents } = dialects["own"]!.read(file, { file: "/x/careful.md", relative: "careful.md" });
      expect(agents[0]?.agent.tools).toEqual(["read_file", "grep_files"]);
    }
    const bans =
      "---\nname: careful\ndescription: is careful\ndisallowedTools: bash,\nwrite_file\nx: a: b\n---\nBe careful.\n";
    const { agents } = dialects["own"]!.read(bans, { file: "/x/careful.md", relative: "careful.md" });
    expect(agents[0]?.agent.disallowedTools).toEqual(["bash", "write_file"]);
  });

  test("a pattern may stand for more names than a command may have that only reads", () => {
    for (const command of ["uniq f*", "uniq -c f?", "uniq -f f* f1", "uniq f[12] < f1"])
      expect(isReadOnly(command), command).toBe(false);
    expect([isReadOnly("uniq f1"), isReadOnly("cat f*")]).toEqual([true, true]);
  });

  test("a redirect around commands that only read needs no rule, and is judged as a file", () => {
    expect(isReadOnly("( cat f1 ) > /dev/null")).toBe(true);
    expect(isReadOnly("( cat f1 ) > new")).toBe(false);
  });
});
