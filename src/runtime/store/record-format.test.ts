import { expect, test } from "vitest";
import type { KeptEvent } from "../../core/run/event.ts";
import { checkFormat, newerFormat } from "./record-format.ts";

const first = (more: object): KeptEvent =>
  ({ seq: 1, run: "r", path: "", at: 0, type: "run.started", cwd: "/", version: "0.1.0", ...more }) as KeptEvent;

test.each([{}, { format: 1 }, { format: "2" }])("records with the format %j can be read", (more) => {
  expect(newerFormat(first(more))).toBeUndefined();
  expect(() => checkFormat(first(more))).not.toThrow();
});

test("records of a newer format are refused, with the hint to update subcrew", () => {
  expect(() => checkFormat(first({ format: 2 }))).toThrow(
    expect.objectContaining({
      code: "BAD_FILE",
      message: expect.stringContaining("newer version of subcrew (format 2"),
      hint: expect.stringContaining("Update subcrew"),
    }),
  );
});
