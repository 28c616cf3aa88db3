import { expect, test } from "vitest";
import { explainCode, isKnownCode } from "./error-guide.ts";

test("the explanation of an error code contains its exit code, cause and fix", () => {
  expect(explainCode("UNKNOWN_RUN")).toBe(
    "UNKNOWN_RUN (exit code 2)\n\nCause: no stored run has this id, prefix or name.\nFix: `subcrew ps --all` lists stored runs.\n",
  );
  expect(explainCode("MAX_TURNS")).toMatch(/^MAX_TURNS \(exit code 4\)/);
});

test.each(["toString", "BAD", "unknown_run"])("%s is not an error code", (word) => {
  expect(isKnownCode(word)).toBe(false);
});
