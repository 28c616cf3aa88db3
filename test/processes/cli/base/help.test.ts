import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { place } from "../../command.ts";

const commands =
  "run parallel chain race team skill command resume plan agents skills commands models runs trust a2a".split(" ");

test("--version prints the version of the package", async () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../../..", "package.json"), "utf8")) as {
    version: string;
  };
  expect(await place().run(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test("help lists every command, however it is requested", async () => {
  const there = place();
  const asked = await Promise.all([["--help"], ["help"], ["-h"], []].map((args) => there.run(args)));
  for (const { code, stdout, stderr } of asked) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const name of commands) expect(stdout).toMatch(new RegExp(`^  ${name} +\\w`, "m"));
    expect(stdout).toContain("130 cancelled");
  }
});

test.concurrent.each(commands)("subcrew %s --help shows its flags and an example", async (name) => {
  const { code, stdout, stderr } = await place().run([name, "--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`^Usage: subcrew ${name} `));
  expect(stdout).toContain("--help");
  expect(stdout).toContain(`subcrew ${name} `);
  expect(stdout.split("\n").filter((line) => line.length > 110)).toEqual([]);
});

test.concurrent.each(["run", "single", "parallel", "chain", "race", "team"])(
  "subcrew plan %s has the flags of its mode",
  async (mode) => {
    const { code, stdout } = await place().run(["plan", mode, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("--input <file>");
  },
);

test("help and version load neither the crew nor a model", async () => {
  const there = place();
  const loaded = await there.run(["--help"], { env: { NODE_DEBUG: "esm" } });
  expect(loaded.code).toBe(0);
  expect(loaded.stderr).not.toMatch(/cli\/(trunk|start|offline|read-input)-/);
});
