import { describe, expect, test } from "vitest";
import { dialects } from "../../src/formats/table.ts";
import { addressesAreJudgedAlike } from "./addresses.ts";
import { isReadOnly } from "./commands.ts";
import { bansAreKept, filesAreRead, repairsOnlyNarrow, restrictionsAreKept, settingsAreRead } from "./files.ts";
import {
  inputsAreJudged,
  journalsAreRead,
  keysAreGone,
  secretsAreGone,
  splitsDoNotMatter,
  terminalsAreSafe,
} from "./words.ts";

/** The seed is fixed here; the soak uses a random one and prints it. */
const seed = 20_261_116;

describe("FUZZ-01: agent files", () => {
  test("mutated in any way are read or refused by every dialect", () => filesAreRead({ numRuns: 1_500, seed }));
  test("that have to be repaired never have more tools than they name, or than the read-only ones", () =>
    repairsOnlyNarrow({ numRuns: 400, seed }));
  test("with stray lines keep their denied tools", () => bansAreKept({ numRuns: 400, seed }));
  test("with stray lines anywhere do not get a tool that they deny or leave out", () =>
    restrictionsAreKept({ numRuns: 500, seed }));
  test("and settings that are mutated are read or refused", () => settingsAreRead({ numRuns: 300, seed }));
});

test("FUZZ-03: addresses are judged the same in every spelling, and no special address is allowed", () =>
  addressesAreJudgedAlike({ numRuns: 1_000, seed }));

describe("FUZZ-05: readers", () => {
  test("of a journal read everything up to a damaged place, or report the journal as damaged", () =>
    journalsAreRead({ numRuns: 500, seed }));
  test("of streams read the same events and messages however they are cut", () =>
    splitsDoNotMatter({ numRuns: 500, seed }));
  test("of plans, inputs, rules and templates refuse with subcrew's own errors, and templates are filled once", () =>
    inputsAreJudged({ numRuns: 500, seed }));
});

test("FUZZ-06: no text controls a terminal, in any pieces", () => terminalsAreSafe({ numRuns: 1_500, seed }));

test("FUZZ-07: no secret remains, in any spelling and any pieces", () => secretsAreGone({ numRuns: 800, seed }));

test("FUZZ-07: no private key remains, in any case, with any escapes, in any pieces", () =>
  keysAreGone({ numRuns: 400, seed }));

test("the fuzzer finds a property that is broken on purpose", () => {
  expect(() => filesAreRead({ numRuns: 1, seed }, () => expect(1).toBe(2))).toThrow();
});

describe("bugs that were found by fuzzing", () => {
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

  test("a command with a pattern is not read-only if the pattern could become an argument that the command writes", () => {
    for (const command of ["uniq f*", "uniq -c f?", "uniq -f f* f1", "uniq f[12] < f1"])
      expect(isReadOnly(command), command).toBe(false);
    expect([isReadOnly("uniq f1"), isReadOnly("cat f*")]).toEqual([true, true]);
  });

  test("a redirection of read-only commands is judged as a write to its file", () => {
    expect(isReadOnly("( cat f1 ) > /dev/null")).toBe(true);
    expect(isReadOnly("( cat f1 ) > new")).toBe(false);
  });
});
