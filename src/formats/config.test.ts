import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

test("an empty configuration file sets nothing", () => {
  for (const text of ["", "# later\n", "\ufeff\r\n"]) expect(readConfig(text)).toMatchObject({ config: {} });
});

test("each value of a configuration file is parsed with its line number", () => {
  const text =
    "model: x\n# about agents\nagents:\n  scout:\n    model: y\n    limits: { maxTurns: 3 }\n  a.b: { enabled: false }\n";
  const read = readConfig(text);
  if (!("config" in read)) throw new Error("not read");
  expect(
    ["model", "agents scout model", "agents scout limits maxTurns", "agents a.b enabled"].map((path) =>
      read.lineOf(path.split(" ")),
    ),
  ).toEqual([1, 5, 6, 7]);
  expect(read.lineOf(["nothing"])).toBeUndefined();
});

test("all errors of a configuration file are reported at once, with line and fix", () => {
  const read = readConfig("agents:\n  scout:\n    modle: x\nconcurrency: many\npreset: opm\n");
  expect(read).toEqual({
    faults: expect.arrayContaining([
      { line: 3, message: expect.stringContaining('unknown key "modle"'), hint: 'Did you mean "model"?' },
      { line: 4, message: expect.stringContaining("has to be a number"), hint: expect.any(String) },
      { line: 5, message: expect.stringContaining('cannot be "opm"'), hint: 'Did you mean "omp"?' },
    ]),
  });
});

test.each([
  ["invalid YAML", "model: [x\n"],
  ["a duplicate key", "model: a\nmodel: b\n"],
  ["a list", "- model\n"],
  ["a bomb", `a: &a [x,x]\nb: &b [${"*a,".repeat(40)}]\n`],
])("a configuration file with %s is reported as faulty, without an exception", (_, text) => {
  expect(readConfig(text)).toHaveProperty("faults");
});
