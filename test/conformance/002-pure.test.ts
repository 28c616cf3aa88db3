import { expect, test } from "vitest";
import { formatDuration } from "../../src/core/text/duration.ts";
import { cases } from "./harness.ts";

test.each(cases<{ ms: number }, string>("002-mycode", "duration-format"))(
  "duration-format: $name",
  ({ input, want }) => {
    expect(formatDuration(input.ms, "spaced")).toBe(want);
  },
);
