import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { command, place } from "../../command.ts";

/** The completions of bash for the last of these words, after the script of `completion bash` was loaded. */
function offered(here: ReturnType<typeof place>, ...words: readonly string[]): string[] {
  const bin = join(here.home, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "subcrew"), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`);
  chmodSync(join(bin, "subcrew"), 0o755);
  const script =
    'eval "$(subcrew completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _subcrew 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"';
  const out = execFileSync("bash", ["-c", script, "bash", ...words], {
    cwd: here.workspace,
    env: { ...here.env, PATH: `${bin}:${here.env["PATH"]}` },
    encoding: "utf8",
  });
  return out.split("\n").filter((line) => line !== "");
}

describe("completion", () => {
  test.each([
    [["subcrew", "comp"], ["completion"]],
    [["subcrew", "run", "expl"], ["explore"]],
    [["subcrew", "run", "explore", "x", "--max-us"], ["--max-usd"]],
    [["subcrew", "run", "explore", "--model", "opu"], ["opus"]],
    [["subcrew", "parallel", "expl"], ["explore="]],
    [["subcrew", "race", "--agents", "explore,gener"], ["explore,general"]],
    [["subcrew", "config", "uns"], ["unset"]],
    [["subcrew", "config", "set", "limits.maxTu"], ["limits.maxTurns"]],
    [["subcrew", "run", "--runner", "thr"], ["thread"]],
    [["subcrew", "nonsense", "x"], []],
  ])("bash offers for %j: %j", (words, expected) => {
    expect(offered(place(), ...words)).toEqual(expected);
  });

  test("runs are offered by name, and their tasks after a slash", async () => {
    const here = place({ "a.txt": "hello" });
    await here.run(["chain", "explore=hello", "explore={previous}", "--name", "nightly", "--quiet"]);
    expect(offered(here, "subcrew", "show", "nig")).toEqual(["nightly"]);
    expect(offered(here, "subcrew", "show", "nightly/")).toEqual(["nightly/explore", "nightly/explore-2"]);
  });

  test("typed text is never evaluated", () => {
    const here = place();
    offered(here, "subcrew", "run", `$(touch ${join(here.workspace, "made")})`);
    expect(existsSync(join(here.workspace, "made"))).toBe(false);
  });

  test("zsh also offers words that are not flags", async () => {
    const { stdout } = await place().run(["completion", "zsh"]);
    expect(stdout).toContain("_describe 'subcrew' items"); // with -o it would offer only words that begin with a dash
  });

  test("an unknown shell is refused with the list of shells", async () => {
    const { code, stderr } = await place().run(["completion", "tcsh"]);
    expect(code).toBe(2);
    expect(stderr).toContain("bash, zsh, fish");
  });
});
